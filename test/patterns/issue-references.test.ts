import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReferences } from '../../src/forge/issues/cross-references.ts';
import { breakReferences } from '../../src/patterns/issue-references.ts';
import { propertyRuns } from '../support/figure.ts';

const inserted = (text: string) => ({ text, isInserted: true });
const written = (text: string) => ({ text, isInserted: false });
const shown = (text: string): string => text.replaceAll('\u200b', '|');

describe('an inserted text', () => {
  it.each([
    ['closes other/repo#5', 'closes other/repo#|5'],
    ['see other/repo!5, x.y/z-1#7.', 'see other/repo!|5, x.y/z-1#|7.'],
    ['https://git.example.org/other/repo/issues/5', 'https://git.example.org/other/repo/issues/|5'],
    ['[x](/other/repo/pulls/+5)', '[x](/other/repo/pulls/|+5)'],
    [
      '<https://git.example.org/sub/other/repo/pulls/5/files>',
      '<https://git.example.org/sub/other/repo/pulls/|5/files>',
    ],
    ['Closes: #5', 'Closes|: #5'],
    ['fixes !5 and reopens #6', 'fixes| !5 and reopens| #6'],
    // The keywords are configured by the administrators of the forge.
    ['schließt #5', 'schließt| #5'],
    ['закрыть: #5', 'закрыть|: #5'],
    ['#5, #6 (#7)', '#5, #6 (#7)'],
    ['C# 5, 50 % of 5/6, a/b, issue tracker!', 'C# 5, 50 % of 5/6, a/b, issue tracker!'],
    ['resolve /issues/ later', 'resolve /issues/ later'],
  ])('%s', (text, expected) => {
    expect(shown(breakReferences([inserted(text)]))).toBe(expected);
  });
});

describe('a text with inserted parts', () => {
  it.each<[string, Parameters<typeof breakReferences>[0], string]>([
    [
      'leaves text by its author unchanged',
      [written('Closes other/repo#5, fixes #6'), inserted(' x')],
      'Closes other/repo#5, fixes #6 x',
    ],
    [
      'leaves a reference sign by its author unchanged',
      [written('See '), inserted('acme/site'), written('#5')],
      'See acme/site#5',
    ],
    [
      'breaks an inserted keyword before a reference by the author',
      [inserted('This fixes'), written(' #5')],
      'This fixes| #5',
    ],
    [
      'breaks an inserted keyword before a URL',
      [inserted('fix:'), written(' https://x.org/a/b/issues/5')],
      'fix|: https://x.org/a/b/issues/5',
    ],
    [
      'breaks an inserted keyword before a link',
      [inserted('fix'), written(' [this](https://x.org/a/b/issues/5)')],
      'fix| [this](https://x.org/a/b/issues/5)',
    ],
    [
      'breaks an inserted keyword before a reference to another repository',
      [inserted('fix'), written(' a/b#5')],
      'fix| a/b#5',
    ],
    ['breaks a keyword made of two parts', [inserted('clo'), written('ses #5')], 'closes| #5'],
    [
      'breaks an inserted reference after a keyword by the author',
      [written('Closes '), inserted('#5')],
      'Closes #|5',
    ],
    ['breaks a reference made of two parts', [inserted('other/re'), inserted('po#5')], 'other/repo#|5'],
    [
      'breaks a keyword before a reference from another part',
      [inserted('closes'), written(' '), inserted('#5')],
      'closes| #5',
    ],
    [
      'leaves an inserted number after a sign by the author unchanged',
      [written('Closes #'), inserted('5')],
      'Closes #5',
    ],
  ])('%s', (_title, parts, expected) => {
    expect(shown(breakReferences(parts))).toBe(expected);
  });

  it('closes and reopens nothing, and refers to no other repository, as the embedded forge parses it', () => {
    const piece = fc.constantFrom(
      ...[
        'close',
        'Fixes',
        'resolved',
        'reopens',
        'a',
        ' ',
        ' ',
        ': ',
        ':',
        '#',
        '!',
        '7',
        '12',
        '(',
        '[',
        ')',
        ']',
        '"',
      ],
      ...[
        'other/repo',
        'o',
        '/',
        '-',
        '.',
        ',',
        '\n',
        '**',
        'é',
        '\u{1d400}',
        '/issues/',
        'https://x.org/a/b/pulls/3',
      ],
    );
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
    const part = fc.record({ text, isInserted: fc.constant(true) });

    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), (parts) => {
        const broken = breakReferences(parts);
        const harmful = parseReferences(broken).filter(
          ({ asks, repository }) => asks !== undefined || repository !== undefined,
        );
        expect(harmful).toEqual([]);
        expect(broken.replaceAll('\u200b', '')).toBe(parts.map((one) => one.text).join(''));
      }),
      { numRuns: process.env.LONG ? 100_000 : propertyRuns(5_000) },
    );
  });

  it.each([
    ['letters', 'a'.repeat(60_000)],
    ['spaces', `a${' '.repeat(60_000)}`],
    ['names', 'a a/'.repeat(15_000)],
    ['brackets', 'a ['.repeat(20_000)],
    ['addresses', 'a /b/c/'.repeat(8_000)],
    ['references', 'closes #1 '.repeat(6_000)],
  ])('is processed quickly if it is long and consists of %s', (_title, text) => {
    const before = process.cpuUsage();
    breakReferences([written('x '), inserted(text)]);
    const { user, system } = process.cpuUsage(before);

    // A search that restarts at each character takes minutes.
    expect(user + system).toBeLessThan(2_000_000);
  });
});
