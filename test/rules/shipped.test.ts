import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { test as runTests } from '../../src/commands/rules/test.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { findRuleFiles } from '../../src/sources/folder.ts';

const files = await findRuleFiles(['rules']);
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

it.each(files)('%s opens with what it does and the token scopes it needs', async (path) => {
  const text = await readFile(path, 'utf8');
  const opening = text.slice(0, text.indexOf('version: 1'));

  expect(opening).toMatch(/^# .+\n(#.*\n)*# Needs: ./);
  expect(opening).toMatch(/token scopes? (read|write):\w+/);
});

it.each(examples)('%s opens with what it does, and has at most 15 lines of YAML', async (path) => {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');

  expect(lines[0]).toMatch(/^# ./);
  expect(lines.filter((line) => !line.startsWith('#')).length).toBeLessThanOrEqual(15);
});
