import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { granted } from '../support/granted.ts';

/** Example of a page: its language, its text, and the line on which it begins. */
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

/** Returns a complete rule file for an example, which may be only part of one. */
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
  it('include more than a few', () => {
    expect(rules.length).toBeGreaterThan(12);
  });

  it.each(rules.map((example) => [example.line, example] as const))('line %i loads', (_, example) => {
    expect(messagesOf(fileOf(example))).toEqual([]);
  });
});

describe('examples of docs/merge-queue.md', () => {
  const examples = examplesOf('merge-queue.md').filter(({ language }) => language === 'yaml');

  it.each(examples.map((example) => [example.line, example] as const))('line %i loads', (_, example) => {
    expect(messagesOf(fileOf(example))).toEqual([]);
  });

  it('add a pull request to the queue and require the status of the queue', () => {
    expect(examples.map(({ text }) => /uses: ([\w-]+)/.exec(text)?.[1])).toEqual([
      'queue-merge',
      'sync-branch-protections',
    ]);
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

/** Section of docs/how-do-i.md: its heading as an anchor, its rule files, and the grants or level that they need. */
type Wish = { readonly name: string; readonly files: readonly string[]; readonly needs: string };

function wishesOf(page: string): readonly Wish[] {
  const [, ...sections] = readFileSync(join(packageRoot, 'docs', page), 'utf8').split(/^#{2,3} (?=.*$)/m);
  return sections.flatMap((section) => {
    const blocks = [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    const name = section.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') ?? '';
    const files = blocks.filter((text) => text.startsWith('version: 1\n'));
    const needs = /\((\*grant:\*[^)]*|operator's file only)\):$/m.exec(section)?.[1] ?? '';
    return blocks.length === 0 ? [] : [{ name, files, needs }];
  });
}

/** Returns the codes of the problems of this text when it is the `.reeve.yml` of a repository with these grants. */
function problemsAsRepositoryFile(text: string, names: readonly string[]): readonly string[] {
  const { problems } = loadRuleFile({
    path: '.reeve.yml',
    text,
    level: 'repository',
    commit: '',
    registry,
    grants: granted(names),
  });
  return [...new Set(problems.map(({ code }) => code))];
}

describe('docs/how-do-i.md', () => {
  const wishes = wishesOf('how-do-i.md');
  const tests = join(packageRoot, 'test', 'rules', 'how-do-i');

  it('has one rule file and one test for each section, and lists each section in its table of contents', () => {
    const text = readFileSync(join(packageRoot, 'docs', 'how-do-i.md'), 'utf8');
    const names = wishes.map(({ name }) => name).toSorted();

    expect(wishes.filter(({ files }) => files.length !== 1)).toEqual([]);
    expect(readdirSync(tests).toSorted()).toEqual(names.map((name) => `${name}.test.yml`));
    const linked = [...text.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, name]) => name ?? '');
    expect(linked).toEqual(expect.arrayContaining(names));
    const anchors = [...text.matchAll(/^#{2,3} (.*)$/gm)].map(([, name = '']) =>
      name.toLowerCase().replaceAll(' ', '-'),
    );
    expect(anchors).toEqual(expect.arrayContaining(linked));
  });

  it.each(wishes)('$name: its test passes and reaches each rule and step', async ({ name, files }) => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-wish-'));
    writeFileSync(join(folder, `${name}.yml`), files[0] ?? '');
    copyFileSync(join(tests, `${name}.test.yml`), join(folder, `${name}.test.yml`));

    const report = await testRules([folder]);
    rmSync(folder, { recursive: true });

    expect(report).toMatchObject({ problems: [], failed: [], unreached: { rules: [], steps: [] } });
    expect(report.results.length).toBeGreaterThan(0);
  });

  it.each(wishes)('$name: states what the rules need in a repository file', ({ files, needs }) => {
    const [text = ''] = files;
    const names = [...needs.matchAll(/`([\w.-]+)`/g)].map(([, name = '']) => name);
    const isForRepositories = !needs.startsWith('operator');

    const codes = problemsAsRepositoryFile(text, names);
    expect(isForRepositories ? codes : codes.length > 0).toEqual(isForRepositories ? [] : true);
    // "branches" is part of a grant, not a name. The grant for delete-branch is needed if a rule merges and deletes the
    // branch.
    const needed = names.filter((name) => name !== 'branches' && !text.includes(`${name}: true`));
    for (const left of needed) {
      const others = names.filter((name) => name !== left);
      expect([left, problemsAsRepositoryFile(text, others)]).toEqual([left, ['level']]);
    }
  });
});
