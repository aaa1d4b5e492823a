import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseDocument, visit } from 'yaml';
import { test as runTests } from '../../src/cli/commands/rules/test.ts';
import type { Terminal } from '../../src/cli/output/terminal.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { makeEventRun } from '../../src/engine/make-run.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { requestsOfRule } from '../../src/rules/needs.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { loadRuleTests } from '../../src/rules/rule-tests.ts';
import { findRuleFiles, loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { granted } from '../support/granted.ts';

const files = await findRuleFiles(['rules'], { withPacks: true });
const openingOf = (path: string): string => {
  const text = readFileSync(path, 'utf8');
  return text.slice(0, text.indexOf('version: 1')).replaceAll('\n#', '');
};
const examples = await findRuleFiles(['examples/rules']);

it.each([
  ['rules', 30],
  ['examples/rules', 12],
])('files in %s pass their tests, which reach every rule and step', async (folder, least) => {
  const lines: string[] = [];
  const terminal: Terminal = {
    out: (line) => lines.push(line),
    error: (line) => lines.push(line),
    style: (_style, text) => text,
  };

  const exit = await runTests([folder], { json: true }, terminal);
  const report = JSON.parse(lines.at(-1) ?? '');

  expect(report).toMatchObject({ failed: [], problems: [], unreached: { rules: [], steps: [] } });
  expect((await findRuleFiles([folder])).length).toBeGreaterThanOrEqual(least);
  expect(report.cases).toBeGreaterThanOrEqual(least);
  expect(exit).toBe(0);
});

it.each(files)('%s begins with its purpose and the token scopes it needs', async (path) => {
  const text = await readFile(path, 'utf8');
  const opening = text.slice(0, text.indexOf('version: 1'));

  expect(opening).toMatch(/^# .+\n(#.*\n)*# Needs: ./);
  expect(opening).toMatch(/token scopes? (read|write):\w+/);
});

it('shipped rules have no warnings', async () => {
  const warnings = (await loadRuleFiles(files)).flatMap((file) => file.warnings ?? []);

  expect(warnings).toEqual([]);
});

/** Matches the words with which a text about a merged pull request closes an issue on forges. */
const closing = /\b(clos(e|es|ed)|fix(es|ed)?|resolv(e|es|ed)):? [\w./-]*#\d/i;

it.each([...files, ...examples])('%s writes no text that closes an issue', async (path) => {
  const { contents } = parseDocument(await readFile(path, 'utf8'));
  const texts: string[] = [];
  visit(contents, { Scalar: (_key, { value }) => void (typeof value === 'string' && texts.push(value)) });

  expect(texts.length).toBeGreaterThan(0);
  expect(texts.filter((text) => closing.test(text))).toEqual([]);
});

const withGrants = files.filter((path) => /the grant\s/.test(openingOf(path)));

it('some shipped rules need grants in repository files', () => {
  expect(withGrants.length).toBeGreaterThan(3);
});

it.each(withGrants)('%s names the grants that a repository file needs', (path) => {
  const names = [...openingOf(path).matchAll(/`(?:use|facts): \[([^\]]*)\]`/g)].flatMap(([, list = '']) =>
    list.split(', '),
  );
  const codesWith = (given: readonly string[]): readonly string[] =>
    loadRuleFile({
      path: '.reeve.yml',
      text: readFileSync(path, 'utf8'),
      level: 'repository',
      commit: '',
      registry,
      grants: granted(given),
      parameters: { useExamples: true },
    }).problems.map(({ code }) => code);

  expect(codesWith(names)).toEqual([]);
  expect([...new Set(codesWith([]))]).toEqual(['level']);
});

it.each(examples)('%s begins with its purpose, and has at most 15 lines of YAML', async (path) => {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');

  expect(lines[0]).toMatch(/^# ./);
  expect(lines.filter((line) => !line.startsWith('#')).length).toBeLessThanOrEqual(15);
});

const commanded = (await loadRuleFiles([...files, ...examples])).filter(({ rules }) =>
  rules.some((rule) => requestsOfRule(rule).some(({ name }) => name === 'command')),
);

it('some shipped rules have commands', () => {
  expect(commanded).not.toEqual([]);
});

describe.each(commanded)('the slash commands of $path', ({ path, rules }) => {
  const withCommands = rules.filter((rule) => requestsOfRule(rule).some(({ name }) => name === 'command'));

  it.each(['none', 'read'])('change nothing for a sender with the permission "%s"', async (permission) => {
    const tests = path.replace(/(\.ya?ml)$/, '.test$1');
    const { cases } = loadRuleTests({ path: tests, text: await readFile(tests, 'utf8') });
    const changesWith = async (sender_permission: string) => {
      const found: string[] = [];
      for (const { eventType, payload, facts } of cases) {
        const { run } = await makeEventRun(
          parseEvent(eventType, payload),
          {
            id: 'test',
            mode: 'plan',
            door: 'cli',
            rules: createRuleSet(withCommands),
          },
          { given: { ...facts, sender_permission }, clock: systemClock },
        );
        expect(run.refused).toEqual([]);
        found.push(...run.changes.flatMap((change) => change.rules));
      }
      return [...new Set(found)].toSorted();
    };

    expect(await changesWith('write')).toEqual(withCommands.map(({ id }) => id).toSorted());
    expect(await changesWith(permission)).toEqual([]);
  });
});
