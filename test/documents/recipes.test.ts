import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../../scripts/site/markdown.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { reeve } from '../support/command.ts';
import { granted } from '../support/granted.ts';

const page = readFileSync(join(packageRoot, 'docs/recipes.md'), 'utf8');
const files = blocksOf(page)
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => ({ path: /^# (\S+)/.exec(text)?.[1] ?? '', text }));
const rules = files.filter(({ path }) => !path.endsWith('.test.yml'));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-recipes-'));
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('docs/recipes.md', () => {
  it('has a file and its test in each section, and lists the sections', () => {
    const sections = page.split(/^## /m).slice(1);
    const rows = [...page.matchAll(/^\| \[([^\]]+)\]/gm)].map(([, title]) => title);

    expect(rows).toEqual(sections.map((text) => text.split('\n', 1)[0]));
    expect(rules).toHaveLength(sections.length);
    expect(files.map(({ path }) => path)).toEqual(
      rules.flatMap(({ path }) => [path, path.replace('.yml', '.test.yml')]),
    );
  });

  it('has recipes without problems in reeve check', async () => {
    const { status, out } = await reeve(['check', join(folder, 'rules'), join(folder, '.reeve.yml')]);

    expect({ status, out }).toEqual({ status: 0, out: expect.stringContaining(': no problems') });
  });

  it.each(rules)('has recipes with passing tests that reach each rule and step: $path', async ({ path }) => {
    const { status, out } = await reeve(['test', join(folder, path), '--json']);

    expect(JSON.parse(out)).toMatchObject({ problems: [], failed: [], unreached: { rules: [], steps: [] } });
    expect(status).toBe(0);
  });

  it('lists which recipes a repository file may contain, and with which grant', () => {
    const rowOf = (place: number) => page.match(/^\| \[.*$/gm)?.[place] ?? '';
    for (const [place, { text }] of rules.entries()) {
      const row = rowOf(place);
      const grants = [...(/\*grant:\* `([\w-]+)`/.exec(row)?.slice(1) ?? [])];
      const { problems } = loadRuleFile({
        path: '.reeve.yml',
        text,
        level: 'repository',
        commit: '',
        registry,
        grants: granted(grants),
      });
      expect([row, problems.length === 0]).toEqual([row, row.includes('`.reeve.yml`')]);
    }
  });
});
