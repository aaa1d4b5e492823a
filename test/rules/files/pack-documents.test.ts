import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRules } from '../../../src/cli/commands/rules/rule-tests.ts';
import { packageRoot } from '../../../src/platform/package.ts';
import {
  createOfferedReader,
  findRuleFiles,
  loadRuleFiles,
  readOffers,
  readPacks,
} from '../../../src/rules/sources/folder.ts';

const page = readFileSync(join(packageRoot, 'docs', 'packs.md'), 'utf8');
/** Examples of the page; the first line of each is its file name. */
const examples = [...page.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, path = '', text = '']) => ({
    path,
    text,
  }),
);
const packs = (await findRuleFiles([join(packageRoot, 'rules/packs')])).map((path) => basename(path, '.yml'));

describe('docs/packs.md', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reeve-packs-page-'));
    for (const { path, text } of examples) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives a file name for each of its examples', () => {
    expect(examples.length).toBe([...page.matchAll(/^```/gm)].length / 2);
    expect(examples.map(({ path }) => path)).toContain('.reeve.yml');
  });

  it('shows operator files that load and include the rules that the page lists', async () => {
    const files = await loadRuleFiles([join(folder, 'rules')]);

    expect(files.flatMap(({ problems }) => problems)).toEqual([]);
    expect(files.flatMap(({ rules }) => rules.map(({ name, mode }) => [name, mode]))).toEqual([
      ['mark-quiet-issue', 'enforce'],
      ['stale/warn', 'enforce'],
    ]);
  });

  it('shows a repository file that includes packs offered by the operator', async () => {
    const offered = await readOffers(join(folder, 'rules'));

    const [file] = await loadRuleFiles([join(folder, '.reeve.yml')], {
      offered: createOfferedReader(offered),
    });

    expect(file?.problems).toEqual([]);
    expect(file?.rules.map(({ name, mode, level }) => [name, mode, level])).toEqual([
      ['stale/warn', 'enforce', 'repository'],
      ['stale-soon/warn', 'observe', 'repository'],
    ]);
  });

  it('shows a rule test that passes', async () => {
    const report = await testRules([join(folder, 'rules/packs')]);

    expect(report).toMatchObject({ problems: [], failed: [], unreached: { rules: [], steps: [] } });
    expect(report.results).toHaveLength(2);
  });

  it('lists every shipped pack', () => {
    const [, table = ''] = page.split('## Packs that ship');

    expect([...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name).toSorted()).toEqual(
      packs.toSorted(),
    );
  });
});

describe('the shipped packs', () => {
  /** Rule files with the same topic as a pack but another name, by the name of the pack. */
  const others: Readonly<Record<string, string>> = { 'team-approval': 'approvals-by-team' };

  it('are at least ten', () => {
    expect(packs.length).toBeGreaterThanOrEqual(10);
  });

  it.each(packs)('%s does by default what the rule file of the same topic does', async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-pack-'));
    const copy = join(folder, 'packs');
    mkdirSync(copy);
    const file = (path: string): string => readFileSync(join(packageRoot, 'rules', path), 'utf8');
    writeFileSync(join(copy, 'x.yml'), file(`packs/${name}.yml`));
    writeFileSync(join(copy, 'x.test.yml'), file(`${others[name] ?? name}.test.yml`));

    const report = await testRules([folder]);
    rmSync(folder, { recursive: true });

    expect(report).toMatchObject({ problems: [], failed: [] });
    expect(report.results.length).toBeGreaterThan(0);
  });

  it.each(packs)('%s can be included by a repository that has the needed grants', async (name) => {
    const offered = await readPacks(join(packageRoot, 'rules/packs'));

    expect(offered.get(name)).toMatchObject({ path: expect.stringContaining(`${name}.yml`) });
  });
});
