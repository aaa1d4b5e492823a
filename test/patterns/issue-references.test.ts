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
    // Administrators of the forge choose the words.
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
      'leaves what its author wrote',
      [written('Closes other/repo#5, fixes #6'), inserted(' x')],
      'Closes other/repo#5, fixes #6 x',
    ],
    [
      'leaves a sign that its author wrote',
      [written('See '), inserted('acme/site'), written('#5')],
      'See acme/site#5',
    ],
    [
      'breaks a word before a reference of its author',
      [inserted('This fixes'), written(' #5')],
      'This fixes| #5',
    ],
    [
      'breaks it before an address',
      [inserted('fix:'), written(' https://x.org/a/b/issues/5')],
      'fix|: https://x.org/a/b/issues/5',
    ],
    [
      'breaks it before a link',
      [inserted('fix'), written(' [this](https://x.org/a/b/issues/5)')],
      'fix| [this](https://x.org/a/b/issues/5)',
    ],
    ['breaks it before another repository', [inserted('fix'), written(' a/b#5')], 'fix| a/b#5'],
    ['breaks a word of two', [inserted('clo'), written('ses #5')], 'closes| #5'],
    ['breaks a reference after a word of its author', [written('Closes '), inserted('#5')], 'Closes #|5'],
    ['breaks a reference made of two', [inserted('other/re'), inserted('po#5')], 'other/repo#|5'],
    [
      'breaks a word and a reference of two',
      [inserted('closes'), written(' '), inserted('#5')],
      'closes| #5',
    ],
    ['leaves a number after a sign of its author', [written('Closes #'), inserted('5')], 'Closes #5'],
  ])('%s', (_title, parts, expected) => {
    expect(shown(breakReferences(parts))).toBe(expected);
  });

  it('closes, reopens and names nothing elsewhere, as the embedded forge reads it', () => {
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
  ])('takes a long text of %s', (_title, text) => {
    const before = process.cpuUsage();
    breakReferences([written('x '), inserted(text)]);
    const { user, system } = process.cpuUsage(before);

    // A search that begins again at each sign takes minutes.
    expect(user + system).toBeLessThan(2_000_000);
  });
});
