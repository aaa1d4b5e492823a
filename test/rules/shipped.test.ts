import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { test as runTests } from '../../src/commands/rules/test.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { findRuleFiles } from '../../src/sources/folder.ts';

const files = await findRuleFiles(['rules']);

it('rules that ship pass their tests, which reach every rule and step', async () => {
  const lines: string[] = [];
  const terminal: Terminal = {
    out: (line) => lines.push(line),
    error: (line) => lines.push(line),
    style: (_style, text) => text,
  };

  const exit = await runTests(['rules'], { json: true }, terminal);
  const report = JSON.parse(lines.at(-1) ?? '');

  expect(report).toMatchObject({ failed: [], problems: [], unreached: { rules: [], steps: [] } });
  expect(report.cases).toBeGreaterThan(20);
  expect(exit).toBe(0);
});

it.each(files)('%s opens with what it does and the token scopes it needs', async (path) => {
  const text = await readFile(path, 'utf8');
  const opening = text.slice(0, text.indexOf('version: 1'));

  expect(opening).toMatch(/^# .+\n(#.*\n)*# Needs: ./);
  expect(opening).toMatch(/token scopes? (read|write):\w+/);
});
