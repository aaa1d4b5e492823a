import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readContents, readReference } from '../../scripts/site/check-links.ts';
import { blocksOf } from '../../scripts/site/markdown.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { reeve } from '../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-front-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const frontPage = readFileSync(join(packageRoot, 'docs/README.md'), 'utf8');

const payload = {
  action: 'opened',
  number: 6,
  pull_request: { id: 6, number: 6, draft: false, additions: 12, deletions: 0, labels: [] },
  repository: { id: 1, name: 'shop', full_name: 'acme/shop', owner: { id: 2, login: 'acme' } },
  sender: { id: 3, login: 'ada' },
};
const facts = {
  pull_request: payload.pull_request,
  files: [{ filename: 'docs/setup.md', status: 'added', additions: 12, deletions: 0, changes: 12 }],
  labels: [],
};

it('the front page shows one rule and exactly what it does', async () => {
  const [rule, effect] = ['yaml', 'text'].map(
    (language) => blocksOf(frontPage).find((block) => block.language === language)?.text ?? '',
  );
  const path = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const rules = path('rules.yml', rule ?? '');
  const given = ['--payload', path('payload.json', JSON.stringify(payload))];
  const known = ['--facts', path('facts.json', JSON.stringify(facts))];

  const { status, out } = await reeve(
    ['plan', '--event', 'pull_request', ...given, ...known, '--rules', rules],
    { environment: { REEVE_DATA: join(folder, 'data') } },
  );

  expect(status).toBe(0);
  expect(out.replace(rules, '.reeve.yml')).toBe(effect);
});

it('the front page has a picture and a way for each role', () => {
  expect(frontPage).toMatch(/^!\[[^\]]{20,}\]\(images\/\w+\.png\)$/m);
  const roles = frontPage.match(
    /^\| (?:one person|the administrator|a platform team|a team with|the author).*\]\(.*$/gm,
  );
  expect(roles).toHaveLength(5);
});

it('the table of contents has only sections with pages, and each entry of the reference has a few words', () => {
  const index = readFileSync(join(packageRoot, 'docs/reference/README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| \[.*?\]\(([^)]+)\) \| (.*) \|$/gm)].map(
    ([, page = '', about = '']) => ({
      page,
      about,
    }),
  );

  expect(readContents(packageRoot).map(({ title }) => title)).not.toContain('Where to begin');
  const entries = readReference(packageRoot).flatMap((section) => section.entries);
  expect(rows.length).toBeGreaterThan(entries.length);
  expect(entries.length).toBeGreaterThan(150);
  expect(rows.filter(({ about }) => about.length < 5 || about.length > 130)).toEqual([]);
});
