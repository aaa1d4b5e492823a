import { describe, expect, it } from 'vitest';
import type { PlanContext } from '../../src/actions/plan-context.ts';
import { syncCollaborators } from '../../src/actions/sync-collaborators.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const subject = { kind: 'repository' } as const;
/** Existing collaborators. Our account is 9. */
const live = [
  { id: 1, login: 'Ada', permission: 'write' },
  { id: 2, login: 'grace', permission: 'read' },
  { id: 9, login: 'reeve', permission: 'admin' },
  { id: 4, login: 'boss', permission: 'owner' },
];
type Given = Parameters<typeof syncCollaborators.plan>[0];
type Wanted = Given['collaborators'][number];

const plan = (given: Given, held: readonly object[] = live, context: PlanContext = makeContext()) =>
  syncCollaborators.plan(given, makeFacts({ collaborator_permissions: held }, { subject }), context);
const planned = async (...given: Parameters<typeof plan>) =>
  (await plan(...given)).map(
    ({ target, value, already }) => `${target}=${value}${already ? ' (already)' : ''}`,
  );
const ada = (permission: Wanted['permission']): Given => ({ collaborators: [{ login: 'ada', permission }] });

describe('the plan', () => {
  it.each<readonly [string, Given, readonly string[]]>([
    ['existing access, as already set', ada('write'), ['collaborator:ada=write (already)']],
    ['more access', ada('admin'), ['collaborator:ada=admin']],
    ['less access', ada('read'), ['collaborator:ada=read']],
    [
      'a new collaborator',
      { collaborators: [{ login: 'linus', permission: 'read' }] },
      ['collaborator:linus=read'],
    ],
    [
      'nothing for our own account',
      { collaborators: [{ login: 'reeve', permission: 'read' }] },
      ['collaborator:reeve=read (already)'],
    ],
    [
      'the removal of others, but never of our own account',
      { ...ada('write'), prune: true },
      ['collaborator:ada=write (already)', 'collaborator:grace=null', 'collaborator:boss=null'],
    ],
  ])('contains %s', async (_title, given, expected) => {
    expect(await planned(given)).toEqual(expected);
  });

  it('counts removals against their limit', async () => {
    const changes = await plan({ ...ada('write'), prune: true });

    expect(changes.flatMap(({ removes }) => removes ?? [])).toEqual([
      { from: 'collaborators', there: 4 },
      { from: 'collaborators', there: 4 },
    ]);
  });
});

describe('access that exceeds the granted permission', () => {
  async function apply(context: PlanContext): Promise<void> {
    const [change] = await plan(ada('read'), live, context);
    if (change === undefined) throw new Error('no change');
    await syncCollaborators.remember?.(change, undefined, context);
  }

  it('is not reduced on every run, because it comes through a team', async () => {
    const context = makeContext();
    await apply(context);

    expect(await planned(ada('read'), live, context)).toEqual(['collaborator:ada=read (already)']);
  });

  it('is reduced again if it was reduced in between', async () => {
    const context = makeContext();
    await apply(context);
    const reduced = [{ id: 1, login: 'Ada', permission: 'read' }];

    expect(await planned(ada('read'), reduced, context)).toEqual(['collaborator:ada=read (already)']);
    expect(await planned(ada('read'), live, context)).toEqual(['collaborator:ada=read']);
  });

  it('is restored if a person removed it', async () => {
    const context = makeContext();
    const [change] = await plan(ada('admin'), live, context);
    if (change === undefined) throw new Error('no change');
    await syncCollaborators.remember?.(change, undefined, context);

    expect(await planned(ada('admin'), live, context)).toEqual(['collaborator:ada=admin']);
  });
});

it('sync-collaborators refuses a user who is named twice', () => {
  const collaborators: Given['collaborators'] = [
    { login: 'ada', permission: 'read' },
    { login: 'ADA', permission: 'write' },
  ];
  expect(syncCollaborators.examine?.({ collaborators })).toEqual([
    { path: ['collaborators', 1, 'login'], message: 'the user "ada" is listed twice' },
  ]);
});
