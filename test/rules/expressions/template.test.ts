import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { compileTemplate, type Filled } from '../../../src/rules/expressions/template.ts';
import { createEnvironment } from '../../../src/rules/files/context.ts';
import { registry } from '../support/registry.ts';
import { contextOf } from './support/context.ts';

const environment = createEnvironment({
  registry,
  level: 'operator',
  occasions: [{ family: 'pull_request', subject: 'pull_request' }],
});

function fill(
  source: string,
  pull: Readonly<Record<string, unknown>> = {},
  options: Parameters<typeof compileTemplate>[2] = {},
): Filled {
  const compiled = compileTemplate(source, contextOf(environment), options);
  if ('problems' in compiled) throw new Error(compiled.problems.map(({ message }) => message).join('\n'));
  const find = ({ name }: { name: string }) => (name === 'pull_request' ? { value: pull } : undefined);
  return compiled.template.fill({ find }, createUnlimitedMeter());
}

describe('a template', () => {
  it.each([
    ['nothing to insert', 'nothing to insert'],
    ['', ''],
    ['#${{ pull_request.number }} by ${{ pull_request.user.login }}', '#7 by ada'],
    ['${{ pull_request.number }}', 7],
    ['${{ pull_request.draft }}', true],
    ['${{pull_request.title}}', 'a "title"'],
    ['draft: ${{ pull_request.draft }}', 'draft: true'],
    ['$${{ pull_request.number }}', '${{ pull_request.number }}'],
    ['${{ "}}" + pull_request.title }}', '}}a "title"'],
    ['${{ {"a": {"b": "c"}}.a.b }}', 'c'],
    ['costs $5 {{ x }}', 'costs $5 {{ x }}'],
  ])('%s', (source, value) => {
    const pull = { number: 7, draft: true, title: 'a "title"', user: { login: 'ada' } };

    expect(fill(source, pull)).toEqual({ value });
  });

  it('never evaluates inserted text as an expression', () => {
    expect(fill('x ${{ pull_request.title }}', { title: '${{ 1 + 1 }}' })).toEqual({
      value: 'x ${{ 1 + 1 }}',
    });
  });

  it.each([
    ['control characters', 'a\u0000\u001b[31mb\u202ec\u200bd', 'a[31mbcd'],
    ['line breaks', 'a\r\n\n::set-env::b\tc', 'a ::set-env::b c'],
    ['mentions', '@ada, hi (@org/team) a@b.de x/@y', '@\u200bada, hi (@\u200borg/team) a@b.de x/@y'],
    ['broken surrogates', 'a\ud800b', 'a\ufffdb'],
  ])('neutralises %s', (_, title, expected) => {
    expect(fill('${{ pull_request.title }}', { title })).toEqual({ value: expected });
  });

  it.each([
    ['x ${{ pull_request.title }}', 'closes a/b#1', 'x closes a/b#|1'],
    ['${{ pull_request.title }}', 'fixes #1', 'fixes| #1'],
    ['${{ pull_request.title }} #${{ pull_request.number }}', 'this fixes', 'this fixes| #7'],
    ['Closes #${{ pull_request.number }} ${{ pull_request.title }}', 'x', 'Closes #7 x'],
    ['see ${{ pull_request.html_url }}', 'x', 'see https://x.org/a/b/pulls/7'],
    ['${{ "" + pull_request.html_url }}', 'x', 'https://x.org/a/b/pulls/|7'],
  ])('breaks references in inserted values if the forge parses the text: %s', (source, title, expected) => {
    const pull = { title, number: 7, html_url: 'https://x.org/a/b/pulls/7' };
    const read = fill(source, pull, { readByForge: true });

    expect('value' in read && String(read.value).replaceAll('\u200b', '|')).toBe(expected);
    expect(fill(source, pull)).toEqual({ value: expected.replaceAll('|', '') });
  });

  const body = 'Fix it.\r\n\r\n\tindented\u2028Signed-off-by: @ada <ada@b.de>\u001b[31m\u202e\n';
  it.each([
    ['one line', {}, 'Fix it. indented Signed-off-by: @|ada <ada@b.de>[31m '],
    ['a text of lines', { lines: true }, 'Fix it.\n\n\tindented\nSigned-off-by: @|ada <ada@b.de>[31m\n'],
    [
      'the message of a commit',
      { lines: true, commit: true },
      'Fix it.\n\n\tindented\nSigned-off-by: @ada <ada@b.de>[31m\n',
    ],
    ['the title of a commit', { commit: true }, 'Fix it. indented Signed-off-by: @ada <ada@b.de>[31m '],
  ])('keeps lines and mentions as far as its purpose allows: %s', (_, purpose, expected) => {
    const filled = fill('${{ pull_request.body }}', { body }, purpose);

    expect('value' in filled && String(filled.value).replaceAll('\u200b', '|')).toBe(expected);
  });

  it.each([
    ['closes\n#1', 'closes|\n#1'],
    ['x\nfixes a/b#1\ny', 'x\nfixes a/b#|1\ny'],
    ['see\nhttps://x.org/a/b/issues/7', 'see\nhttps://x.org/a/b/issues/|7'],
  ])('breaks references that span lines, including in commit messages: %j', (text, expected) => {
    for (const commit of [true, false]) {
      const filled = fill(
        '${{ pull_request.body }}',
        { body: text },
        { readByForge: true, lines: true, commit },
      );

      expect('value' in filled && String(filled.value).replaceAll('\u200b', '|')).toBe(expected);
    }
  });

  it('never inserts a command at the start of a line of a comment', () => {
    const text = '/merge\nsay /hold\n  /hold 2h\nsrc/a.ts\n//';
    const read = (more: object) => fill('${{ pull_request.body }}', { body: text }, { lines: true, ...more });

    expect(read({ readByForge: true })).toEqual({
      value: '/\u200bmerge\nsay /hold\n  /\u200bhold 2h\nsrc/a.ts\n//',
    });
    expect(read({ readByForge: true, commit: true })).toEqual({ value: text });
  });

  it('accepts longer values if its purpose allows several lines', () => {
    const filled = fill('${{ pull_request.body }}', { body: 'a\n'.repeat(10_000) }, { lines: true });

    expect('value' in filled && Buffer.byteLength(String(filled.value))).toBe(8_192);
    expect('value' in filled && String(filled.value)).toMatch(/^(a\n)+a?…$/);
  });

  it('marks a long value as truncated', () => {
    const filled = fill('${{ pull_request.title }}', { title: 'ä'.repeat(5_000) });

    expect('value' in filled && Buffer.byteLength(String(filled.value))).toBeLessThanOrEqual(1_024);
    expect('value' in filled && String(filled.value)).toMatch(/^ä+…$/);
  });

  it('processes only the beginning of a long text, whatever it contains', () => {
    const before = process.cpuUsage();
    const filled = fill('${{ pull_request.title }}', { title: `a${' '.repeat(250_000)}b` });
    const { user, system } = process.cpuUsage(before);

    expect(filled).toEqual({ value: expect.stringMatching(/^a {900,}…$/) });
    // A search for line breaks between all the spaces would take minutes.
    expect(user + system).toBeLessThan(2_000_000);
  });

  it('inserts instants and durations as text', () => {
    const pull = { created_at: '2026-01-01T00:00:00Z' };
    const at = 'timestamp(pull_request.created_at)';

    expect(fill(`\${{ ${at} }}`, pull)).toEqual({ value: '2026-01-01T00:00:00Z' });
    expect(fill(`for \${{ timestamp("2026-01-01T01:30:00Z") - ${at} }}`, pull)).toEqual({
      value: 'for 5400s',
    });
  });

  it.each([
    ['null', { title: null }],
    ['a missing member', {}],
  ])('fails on %s', (_, pull) => {
    expect(fill('x ${{ pull_request.title }}', pull)).toHaveProperty('error');
  });

  it.each([
    ['${{ pull_request.title', 0, 'template'],
    ['ab ${{ pull_request.titel }}', 20, 'unknown-member'],
    ['${{ }}', 3, 'expression'],
    ['${{ pull_request.labels }}', 4, 'expression-type'],
    ['${{ 1 }} ${{ pull_requst }}', 13, 'unknown-name'],
  ])('%s has its problem at offset %i', (source, start, code) => {
    const compiled = compileTemplate(source, contextOf(environment));

    expect('problems' in compiled && compiled.problems).toMatchObject([{ start, code }]);
  });
});
