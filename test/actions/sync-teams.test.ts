import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { syncTeams } from '../../src/actions/sync-teams.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const owners = { id: 1, name: 'Owners', permission: 'owner', units_map: {} };
const core = {
  id: 2,
  name: 'Core',
  permission: 'none',
  description: 'Old',
  units_map: { 'repo.code': 'read', 'repo.wiki': 'read' },
  visibility: 'private',
};
const given = {
  teams: [owners, core],
  team_members: {
    core: [
      { id: 5, login: 'Ada' },
      { id: 6, login: 'grace' },
      { id: 9, login: 'reeve' },
    ],
    Owners: [
      { id: 5, login: 'Ada' },
      { id: 6, login: 'grace' },
    ],
  },
  team_repositories: { core: ['acme/site', 'acme/old'] },
};
const subject = { kind: 'organization', organization: 'acme' } as const;
const factsOf = () => makeFacts(given, { subject });
type Given = Parameters<typeof syncTeams.plan>[0];
type Wanted = Given['teams'][number];

const plan = (more: Partial<Wanted>, rest: Partial<Given> = {}) =>
  syncTeams.plan({ teams: [{ name: 'core', ...more }], ...rest }, factsOf(), makeContext());
async function planned(...args: Parameters<typeof plan>): Promise<readonly string[]> {
  return (await plan(...args)).map(
    ({ target, value, already }) => `${target}=${JSON.stringify(value)}${already ? ' (already)' : ''}`,
  );
}

describe('the plan', () => {
  const same = 'team:core={} (already)';

  it.each<readonly [string, Partial<Wanted>, Partial<Given>, readonly string[]]>([
    [
      'nothing for a team that is as declared',
      { units_map: { 'repo.code': 'read' } },
      {},
      ['team:core={"units_map":{"repo.code":"read"}} (already)'],
    ],
    ['another description', { description: 'New' }, {}, ['team:core={"description":"New"}']],
    [
      'more access',
      { units_map: { 'repo.code': 'write' } },
      {},
      ['team:core={"units_map":{"repo.code":"write"}}'],
    ],
    [
      'members, ignoring case',
      { members: ['ada', 'linus'] },
      {},
      [same, 'team-member:core/ada=true (already)', 'team-member:core/linus=true'],
    ],
    [
      'the removal of members, but not of our own account',
      { members: ['ada'] },
      { prune: true },
      [same, 'team-member:core/ada=true (already)', 'team-member:core/grace=false'],
    ],
    [
      'repositories',
      { repositories: ['Site', 'new'] },
      { prune: true },
      [
        same,
        'team-repository:core/site=true (already)',
        'team-repository:core/new=true',
        'team-repository:core/old=false',
      ],
    ],
  ])('contains %s', async (_title, more, rest, expected) => {
    expect(await planned(more, rest)).toEqual(expected);
  });

  it('creates a team before it adds the members', async () => {
    const changes = await plan({ name: 'fresh', permission: 'write', members: ['ada'] });

    expect(changes).toMatchObject([
      {
        operation: 'team.create',
        input: {
          params: { org: 'acme' },
          body: { name: 'fresh', permission: 'read', units_map: { 'repo.code': 'write' } },
        },
        stage: 0,
      },
      { operation: 'team.put-member', target: 'team-member:fresh/ada', needs: 'team:fresh' },
    ]);
  });

  it('removes other teams with prune, but not the Owners', async () => {
    const changes = await plan({ name: 'fresh', permission: 'read' }, { prune: true });

    expect(changes.filter(({ value }) => value === null).map(({ target }) => target)).toEqual(['team:core']);
  });

  it.each<readonly [string, Partial<Wanted>, string]>([
    ['a new team without access', { name: 'fresh' }, 'there is no team "fresh"'],
    ['access for the owners', { name: 'owners', permission: 'read' }, 'is the owners team'],
  ])('fails for %s', async (_title, more, words) => {
    await expect(plan(more)).rejects.toThrow(words);
  });
});

it('sync-teams keeps unnamed units in an edit, and sends the fields that forges read only with the permission', async () => {
  const [change] = await plan({ units_map: { 'repo.code': 'write' } });

  expect(change?.input.body).toEqual({
    name: 'Core',
    permission: 'read',
    includes_all_repositories: false,
    units_map: { 'repo.code': 'write', 'repo.wiki': 'read' },
  });
});

it('sync-teams reports settings that the forge drops once', async () => {
  const context = makeContext();
  const wanted: Given = { teams: [{ name: 'core', units_map: { 'repo.new': 'read' } }] };
  const [change] = await syncTeams.plan(wanted, factsOf(), context);
  if (change === undefined) throw new Error('no change');

  expect(syncTeams.confirm?.(change, core)).toContain('did not accept all settings');
  expect(await syncTeams.learn?.(change, core, context)).toBe(true);
  const [again] = await syncTeams.plan(wanted, factsOf(), context);
  expect(again?.already).toBe(true);
});

it.each([
  [
    'two ways to specify access',
    { permission: 'read', units_map: { 'repo.code': 'read' } },
    'either permission or units_map',
  ],
  [
    'a list together with all repositories',
    { includes_all_repositories: true, repositories: ['a'] },
    'needs no list',
  ],
])('sync-teams refuses %s', (_title, more, words) => {
  const parsed = (syncTeams as Action).arguments.safeParse({ teams: [{ name: 'core', ...more }] });
  expect(JSON.stringify(parsed.error?.issues)).toContain(words);
});

it('sync-teams refuses a team that is named twice', () => {
  expect(syncTeams.examine?.({ teams: [{ name: 'core' }, { name: 'CORE' }] })).toEqual([
    { path: ['teams', 1, 'name'], message: 'the team "core" is listed twice' },
  ]);
});
