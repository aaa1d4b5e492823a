import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { runCase } from '../../src/cli/commands/rules/rule-tests.ts';
import {
  type Conversion,
  createRuleNames,
  type Format,
  type RuleDraft,
  SourceError,
  type StepDraft,
  Template,
} from '../../src/import/conversion.ts';
import { formats } from '../../src/import/formats.ts';
import { importFile } from '../../src/import/import-file.ts';
import { createNames } from '../../src/import/names.ts';
import { readYamlSource } from '../../src/import/source.ts';
import { insertedIn } from '../../src/rules/expressions/template.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { hostileText } from './support/hostile.ts';

const context = { names: createNames(), target: 'operator' as const };

/** Imports what a format would convert, from a source of the given name. */
async function importOf(conversion: Conversion, path = 'x.yml') {
  const format: Format = { name: 'x', title: 'X', counts: 'parts', places: [], convert: () => conversion };
  return importFile({ path, text: '' }, { format, context, name: 'x', scopes: undefined, run: runCase });
}

function draft(name: string, step: StepDraft, more: Partial<RuleDraft> = {}): RuleDraft {
  return { name, on: { issues: ['opened'] }, steps: [step], ...more };
}

const label = (name: string): StepDraft => ({ uses: 'set-labels', with: { add: [name] } });

describe('rules beyond the limits of a file', () => {
  const isRuleFile = (name: string): boolean => name.endsWith('.yml') && !name.endsWith('.test.yml');

  it.each([
    ['101 rules', Array.from({ length: 101 }, (_, n) => draft(`r${n}`, label('a'))), 2],
    [
      'more than 64 KiB',
      Array.from({ length: 30 }, (_, n) =>
        draft(`r${n}`, { uses: 'comment', with: { text: new Template('é'.repeat(3_000)) } }),
      ),
      4,
    ],
  ])('%s are split into files that each can be loaded', async (_, rules, count) => {
    const { files, rules: loaded } = await importOf({ rules, entries: [] });
    const written = files.filter(({ name }) => isRuleFile(name));

    expect(loaded.map(({ name }) => name)).toEqual(rules.map(({ name }) => name));
    expect(written).toHaveLength(count);
    for (const { name, text } of written)
      expect(loadRuleFile({ path: name, text, level: 'operator', commit: '', registry }).problems).toEqual(
        [],
      );
  });

  it('a rule of eleven steps is left out, with the parts that it carries, and the others stay', async () => {
    const { entries, rules } = await importOf({
      rules: [
        draft('long', label('a'), { steps: Array.from({ length: 11 }, () => label('a')) }),
        draft('short', label('b')),
      ],
      entries: [
        { line: 1, part: 'long', outcome: 'exact', rules: ['long'] },
        { line: 2, part: 'short', outcome: 'exact', rules: ['short'] },
      ],
    });

    expect(rules.map(({ name }) => name)).toEqual(['short']);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['left-out', 'exact']);
    expect(entries[0]?.note).toContain('Reeve refuses the rule');
  });

  it('a value that several rules share is written without anchors', async () => {
    const scopes = ['acme/a', 'acme/b'];
    const { rules } = await importOf({
      rules: [draft('a', label('a'), { in: scopes }), draft('b', label('a'), { in: scopes })],
      entries: [],
    });

    expect(rules).toHaveLength(2);
  });
});

describe('hostile text', () => {
  const hostile = fc.oneof(
    hostileText({ maxLength: 30 }),
    fc.constantFrom(
      '${{ sender.login }}',
      'yaml-language-server: $schema=x',
      '\n  evil:\n    on: push',
      '...\n---\n',
      '- uses: merge',
      'true',
      'null',
      '1e3',
      '!!js/function x',
      '&a *a',
      '<<: *a',
      '? x',
    ),
  );
  const names = createRuleNames();

  it('adds no rule, key, expression or comment that tools obey', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, hostile, async (label1, title, comment, path) => {
        const name = names(title);
        const { files, rules, entries } = await importOf(
          {
            rules: [
              draft(
                name,
                { name: title, uses: 'comment', with: { text: new Template(title) } },
                { comment, description: title },
              ),
              draft(`${name}-label`, label(label1), { comment }),
            ],
            entries: [{ line: 1, part: title, outcome: 'differs', note: comment, rules: [name] }],
            todo: [title],
          },
          `/tmp/${path.replace(/\0/g, '')}.yml`,
        );
        const text = files.find((file) => file.name === 'x.yml')?.text ?? 'rules: {}';
        const document = parseDocument(text);
        const value = document.toJS() as {
          rules: Record<string, { steps: { uses: string; with: { add?: string[]; text?: string } }[] }>;
        };

        expect(document.errors).toEqual([]);
        expect(Object.keys(value).filter((key) => !['version', 'mode', 'rules'].includes(key))).toEqual([]);
        expect(Object.keys(value.rules).filter((one) => one !== name && one !== `${name}-label`)).toEqual([]);
        expect(
          rules
            .flatMap(({ steps }) => steps.map(({ action }) => action.name))
            .filter((one) => !['comment', 'set-labels'].includes(one)),
        ).toEqual([]);
        // Of a template, only escaped ones are left; labels take none, so that such a rule is refused.
        for (const { steps } of Object.values(value.rules))
          for (const { with: given } of steps)
            expect(JSON.stringify(given).replaceAll('$${{', '')).not.toContain('${{');
        const added = value.rules[`${name}-label`]?.steps[0]?.with.add;
        if (added !== undefined)
          expect(added.map((one) => one.toWellFormed())).toEqual([label1.toWellFormed()]);
        for (const line of text.split(/\r\n|[\n\r\u0085\u2028\u2029]/))
          expect(line).not.toMatch(/^\s*#\s*(yaml-language-server|\$schema)/);
        const report = files.find((file) => file.name === 'x.import.md')?.text ?? '';
        expect(report.split('\n').filter((line) => line.startsWith('| 1 |'))).toHaveLength(entries.length);
        expect(report).not.toMatch(/[\u0000\u202e\u2028]/);
      }),
      { numRuns: 150 },
    );
  });
});

it('literal parts of a template cannot become an expression where they meet others', async () => {
  const text = new Template('a$', '{{ 1 }}$$', { expression: '"x"' }, '$', '${{ 2 }}', '$');
  const { files } = await importOf({ rules: [draft('r', { uses: 'comment', with: { text } })], entries: [] });
  const written = parse(files.find(({ name }) => name === 'x.yml')?.text ?? '') as {
    rules: { r: { steps: [{ with: { text: string } }] } };
  };

  expect(insertedIn(written.rules.r.steps[0].with.text)).toEqual([' "$$" ', ' "x" ']);
});

describe('a source', () => {
  it.each([
    [
      'a bomb of aliases',
      `a: &a [x]\n${Array.from({ length: 30 }, (_, n) => `b${n}: &b${n} [*${n === 0 ? 'a' : `b${n - 1}`}, *${n === 0 ? 'a' : `b${n - 1}`}]`).join('\n')}`,
      'alias',
    ],
    ['a duplicate key', 'a: 1\na: 2\n', 'unique'],
    ['an open quote', 'a: "x', 'quote'],
    ['more than a million characters', `a: ${'x'.repeat(1_100_000)}`, 'larger than'],
  ])('with %s is refused', (_, text, message) => {
    expect(() => readYamlSource({ path: 'x.yml', text })).toThrow(SourceError);
    expect(() => readYamlSource({ path: 'x.yml', text })).toThrow(new RegExp(message, 'i'));
  });

  it('keeps merge keys and anchors, lines, comments and numbers as they are written', () => {
    const source = readYamlSource({
      path: 'x.yml',
      text: 'base: &b { color: 008672 }\n# The docs.\ndocs:\n  <<: *b\n  name: docs\n',
    });

    expect(source.value).toMatchObject({ docs: { name: 'docs', color: 8672 } });
    expect(source.lineOf(['docs', 'name'])).toBe(5);
    expect(source.commentOf(['docs'])).toBe(' The docs.');
    expect(source.writtenAt(['base', 'color'])).toBe('008672');
  });

  // No format may end in an error of the program, whatever stands in a file.
  it.each(formats.map((format) => [format.name, format] as const))(
    'of %s with any value is converted or refused with a line',
    async (_, format) => {
      const word = fc.oneof(
        fc.constantFrom(
          'name',
          'labels',
          'repository',
          'branches',
          'protection',
          'approvers',
          'filters',
          'rules',
          'conditions',
          '*',
          'on',
          'x',
          '@a',
          '${{ x }}',
          '!',
          '[x]',
        ),
        fc.string({ maxLength: 8 }),
      );
      const value = fc.letrec((tie) => ({
        any: fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom(null, true, 0, -1, 1e9),
          word,
          fc.array(tie('any'), { maxLength: 3 }),
          fc.dictionary(word, tie('any'), { maxKeys: 4 }),
        ),
      })).any;
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            value.map((one) => JSON.stringify(one)),
            fc.string({ maxLength: 60 }),
          ),
          async (text) => {
            const file = { path: '.github/x', place: '.github/x', text };
            try {
              const { rules, files } = await importFile(file, {
                format,
                context,
                name: 'x',
                scopes: undefined,
                run: runCase,
              });
              expect(files.length).toBeGreaterThan(0);
              expect(rules.length).toBeLessThan(1_000);
            } catch (error) {
              expect(error).toBeInstanceOf(SourceError);
            }
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
