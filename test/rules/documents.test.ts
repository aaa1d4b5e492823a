import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testRules } from '../../src/commands/rules/rule-tests.ts';
import { packageRoot } from '../../src/package.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';

/** An example of a page: its language, its text, and the line on which it begins. */
type Example = { readonly language: string; readonly text: string; readonly line: number };

function examplesOf(page: string): readonly Example[] {
  const text = readFileSync(join(packageRoot, 'docs', page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((found) => ({
    language: found[1] ?? '',
    text: found[2] ?? '',
    line: text.slice(0, found.index).split('\n').length,
  }));
}

const step = { uses: 'comment', with: { text: 'Hello' } };

/** Returns a whole file of rules for an example that is a part of one. */
function fileOf({ language, text }: Example): string {
  if (text.startsWith('version: 1')) return text;
  const ofPulls = { on: 'pull_request' };
  if (language === 'cel') return JSON.stringify(whole({ ...ofPulls, if: text.trim(), steps: [step] }));
  const value: unknown = parse(text);
  if (text.startsWith('uses:')) return JSON.stringify(whole({ ...ofPulls, steps: [value] }));
  const status = { uses: 'set-status', with: { state: 'success' } };
  const steps = [/issues/.test(text) ? step : status];
  return JSON.stringify(whole({ ...(value as object), steps }));
}

const whole = (rule: object) => ({ version: 1, rules: { example: rule } });

function messagesOf(text: string): readonly string[] {
  const { problems } = loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry });
  return problems.map(({ message, line, column }) => `${line}:${column} ${message}`);
}

const rules = examplesOf('rules.md');

describe('examples of docs/rules.md', () => {
  it('are many', () => {
    expect(rules.length).toBeGreaterThan(12);
  });

  it.each(rules.map((example) => [example.line, example] as const))('line %i loads', (_, example) => {
    expect(messagesOf(fileOf(example))).toEqual([]);
  });
});

describe('examples of docs/rule-tests.md', () => {
  const [file, ...tests] = examplesOf('rule-tests.md').filter(({ language }) => language === 'yaml');

  it.each(tests.map((example) => [example.line, example] as const))('line %i passes', async (_, example) => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-documents-'));
    writeFileSync(join(folder, 'page.yml'), file?.text ?? '');
    writeFileSync(join(folder, 'page.test.yml'), example.text);

    const report = await testRules([folder]);
    rmSync(folder, { recursive: true });

    expect(report).toMatchObject({ problems: [], failed: [] });
    expect(report.results.length).toBeGreaterThan(0);
  });
});
