import { expect, it } from 'vitest';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import type { ScopedGrant } from '../../../src/rules/rule.ts';
import { createGrants } from '../../../src/rules/sources/grants.ts';
import { readGrants } from '../../../src/server/settings/config.ts';
import { parseOperatorFile } from '../../../src/server/settings/operator-file.ts';
import { granted } from '../../support/granted.ts';

const grants = createGrants([
  { repositories: ['acme/*', '!acme/attic'], organizations: [], names: ['sync-labels', 'collaborators'] },
  { repositories: ['acme/demo'], organizations: ['Acme'], names: ['protect-tags', 'sync-labels'] },
]);

it('gives each file the names granted to it', () => {
  const namesOf = (all: readonly ScopedGrant[]) => [...new Set(all.flatMap(({ names }) => names))].sort();
  const of = (owner: string, name: string) => namesOf(grants.ofRepository({ id: 1, owner, name }));

  expect(of('acme', 'demo')).toEqual(['collaborators', 'protect-tags', 'sync-labels']);
  expect(of('acme', 'site')).toEqual(['collaborators', 'sync-labels']);
  expect(of('acme', 'attic')).toEqual([]);
  expect(of('other', 'demo')).toEqual([]);
  expect(namesOf(grants.ofOrganization('acme'))).toEqual(['protect-tags', 'sync-labels']);
  expect(grants.ofOrganization('other')).toEqual([]);
});

it('gives a scoped grant to the files of matching repositories, and to their organization only for those repositories', () => {
  const scoped = createGrants([
    { in: ['acme/*', '!acme/attic'], repositories: [], organizations: [], names: ['merge'] },
    { in: ['other/*'], repositories: [], organizations: [], names: ['comment'] },
  ]);
  const [own] = scoped.ofRepository({ id: 1, owner: 'Acme', name: 'demo' });

  expect(own).toMatchObject({ names: ['merge'], forks: false });
  expect(own?.branches).toBeUndefined();
  expect(scoped.ofRepository({ id: 2, owner: 'acme', name: 'attic' })).toEqual([]);
  const ofOrganization = scoped.ofOrganization('acme');
  expect(
    ofOrganization.map(({ names, covers }) => [names, covers('acme/demo'), covers('acme/attic')]),
  ).toEqual([[['merge'], true, false]]);
});

it('reads both forms of a grant', () => {
  const read = (grant: string) => {
    const { file, problems } = parseOperatorFile('operator.yml', `version: 1\ngrants: [${grant}]\n`);
    expect(problems).toEqual([]);
    return readGrants(file).grants[0];
  };

  expect(
    read('{ in: "acme/*", use: [open-pull-request, collaborators], branches: [main, "release/*"] }'),
  ).toEqual({
    in: ['acme/*'],
    repositories: [],
    organizations: [],
    names: ['open-pull-request', 'collaborators'],
    branches: ['main', 'release/*'],
  });
  expect(read('{ repositories: [acme/site], actions: [protect-tags], forks: true }')).toMatchObject({
    repositories: ['acme/site'],
    names: ['protect-tags'],
    forks: true,
  });
});

it('lets a repository file use only granted actions and facts', () => {
  const text = `version: 1
rules:
  tags:
    on: push
    if: collaborators.exists(c, c.login == "ada")
    steps: [{ uses: protect-tags, with: { tags: [{ name_pattern: "v*" }] } }]
`;
  const load = (grants: readonly string[]) =>
    loadRuleFile({
      path: '.reeve.yml',
      text,
      level: 'repository',
      commit: '',
      registry,
      grants: granted(grants),
    }).problems.map(({ line, code }) => [line, code]);

  const refused = load([]);
  expect(refused).toContainEqual([6, 'level']);
  expect(load(['protect-tags']).filter(([line]) => line === 6)).not.toContainEqual([6, 'level']);
  expect(load(['collaborators', 'sync-labels'])).toContainEqual([6, 'level']);
});

it('lets a repository file delete unmerged branches only with the grant of that', () => {
  const text = (given: string) => `version: 1
rules:
  tidy:
    on: pull_request.closed
    steps: [{ uses: delete-branch${given} }]
`;
  const load = (given: string, names: readonly string[]) =>
    loadRuleFile({
      path: '.reeve.yml',
      text: text(given),
      level: 'repository',
      commit: '',
      registry,
      grants: granted(names),
    });
  const closed = ', with: { closed: true }';

  expect(load(closed, ['delete-branch']).problems).toMatchObject([
    {
      code: 'level',
      message: expect.stringContaining("without the operator's grant of delete-closed-branch"),
    },
  ]);
  expect(load(closed, ['delete-closed-branch']).problems).toMatchObject([{ code: 'level' }]);
  expect(load('', ['delete-branch']).rules).toMatchObject([{ byGrant: ['delete-branch'] }]);
  expect(load(closed, ['delete-branch', 'delete-closed-branch']).rules).toMatchObject([
    { byGrant: ['delete-branch', 'delete-closed-branch'] },
  ]);
  const { problems } = parseOperatorFile(
    'operator.yml',
    'version: 1\ngrants: [{ in: a/*, use: [delete-closed-branch] }, { repositories: [a/b], actions: [delete-closed-branch] }]\n',
  );
  expect(problems).toEqual([]);
});

it.each([
  [
    'an action that does not exist',
    'grants: [{ repositories: ["a/*"], actions: [set-label] }]',
    'mean "set-labels"',
  ],
  ['a grant without a receiver', 'grants: [{ actions: [set-labels] }]', 'set who gets the grant'],
  ['a grant of nothing', 'grants: [{ repositories: ["a/*"] }]', 'set what is granted'],
  [
    'two receivers',
    'grants: [{ in: "a/*", repositories: ["a/b"], use: [set-labels] }]',
    'set who gets the grant only once',
  ],
  ['a branch that is no pattern', 'grants: [{ in: "a/*", use: [set-labels], branches: ["["] }]', 'branches'],
  ['a repository without owner', 'organizations: { acme: { rules: reeve } }', 'owner/name'],
  ['a misspelt key', 'report-problem: issue', 'mean "report-problems"'],
  ['a limit below one', 'limits: { hour: 0 }', 'limits.hour'],
  ['a way to report that does not exist', 'report-problems: mail', 'report-problems'],
])('the operator file with %s is refused, with the position of the mistake', (_title, line, words) => {
  const { file, problems } = parseOperatorFile('operator.yml', `version: 1\n${line}\n`);

  expect(file).toBeUndefined();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^operator\.yml:2:\d+: /);
  expect(problems[0]).toContain(words);
});
