import { expect, it } from 'vitest';
import { createBarToRename } from '../../src/server/renames.ts';
import { rulesOf } from '../support/sweep-harness.ts';

const settings = { secrets: [], repositories: [] };
const keep = (name: string, scope: string) => `
  ${name}:
    in: ${scope}
    on: { schedule: "0 * * * *" }
    each: repository
    steps: [{ uses: sync-repository, with: { has_wiki: false } }]`;
const rename = (rule: string, from: string, to: string) => `
  ${rule}:
    in: [acme/${from}, acme/${to}]
    on: { schedule: "0 * * * *" }
    each: repository
    steps: [{ uses: sync-repository, with: { name: ${to} } }]`;
const own = rename('own', 'old', 'new');

async function barOf(
  given: Partial<Parameters<typeof createBarToRename>[0]>,
  rules = '',
): Promise<string | undefined> {
  const loaded = rulesOf(`version: 1\nrules:${own}${rules}\n`);
  return createBarToRename({ ...settings, ...given }, async () => loaded)('acme/old', 'acme/new');
}

it.each<[string, Partial<Parameters<typeof createBarToRename>[0]>, string]>([
  ['nothing else names it', {}, ''],
  [
    'patterns include both names',
    {
      secrets: [
        { name: 'all', scope: ['*'] },
        { name: 'other', scope: ['acme/ops'] },
      ],
      repositories: ['acme/*', '!acme/attic'],
      grants: [{ in: ['acme/*'], repositories: [], organizations: [], names: ['merge'] }],
    },
    '',
  ],
  [
    'settings name the new name alone',
    { repositories: ['acme/new'], secrets: [{ name: 'n', scope: ['acme/new'] }] },
    '',
  ],
  [
    'a secret covers the former name alone, even if another one covers both',
    {
      secrets: [
        { name: 'all', scope: ['*'] },
        { name: 'olds', scope: ['acme/o*'] },
      ],
    },
    'the scope of the secret "olds" includes acme/old and not acme/new',
  ],
  [
    'the served repositories include the former name alone',
    { repositories: ['acme/*', '!acme/new'] },
    'repositories of the operator file includes acme/old and not acme/new',
  ],
  [
    'a grant covers the former name alone',
    { grants: [{ repositories: ['Acme/Old'], organizations: [], names: ['merge', 'sync-labels'] }] },
    'the grant of merge, sync-labels covers acme/old and not acme/new',
  ],
  [
    'it has the rules of an organization',
    { organizations: [{ name: 'acme', rules: 'acme/old', id: undefined }] },
    'the operator file names acme/old as the repository with the rules of acme',
  ],
  [
    'it has the issue with the report',
    { report: { repository: 'acme/old' } },
    'the operator file names acme/old as the repository of the report',
  ],
])('a rename, where %s', async (_title, given, why) => {
  expect((await barOf(given)) ?? '').toBe(why);
});

it.each([
  ['another rule includes both names', keep('tidy', '[acme/old, acme/new]'), ''],
  ['another rule is about another repository', keep('tidy', 'acme/ops'), ''],
  ['another rule is about the new name', keep('tidy', 'acme/new'), ''],
  [
    'another rule would lose it',
    keep('tidy', '[acme/old, acme/ops]'),
    'the in of rule rules.yml#tidy includes acme/old and not acme/new',
  ],
  ['another rule makes the same rename', rename('again', 'old', 'new'), ''],
  [
    'another repository is to get the same name',
    rename('rival', 'other', 'new'),
    'rule rules.yml#rival renames acme/other to acme/new',
  ],
  [
    'the new name is to be given up',
    rename('onward', 'new', 'newer') + keep('unlost', 'acme/new'),
    'rule rules.yml#onward renames acme/new to acme/newer',
  ],
  ['a rule takes it back', rename('back', 'new', 'old'), 'rule rules.yml#back renames acme/new to acme/old'],
])('a rename, where %s', async (_title, rules, why) => {
  expect((await barOf({}, rules)) ?? '').toBe(why);
});

it('two repositories that want one name: neither gets it', async () => {
  const rules = rulesOf(`version: 1\nrules:${own}${rename('rival', 'other', 'new')}\n`);
  const bar = createBarToRename(settings, async () => rules);

  expect(await bar('acme/old', 'acme/new')).toBe('rule rules.yml#rival renames acme/other to acme/new');
  expect(await bar('acme/other', 'acme/new')).toBe('rule rules.yml#own renames acme/old to acme/new');
});
