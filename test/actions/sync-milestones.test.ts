import { describe, expect, it } from 'vitest';
import { syncMilestones } from '../../src/actions/sync-milestones.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type Arguments = Parameters<typeof syncMilestones.plan>[0];
const milestone = (id: number, title: string, more: object = {}) => ({
  id,
  title,
  description: '',
  state: 'open',
  open_issues: 0,
  closed_issues: 0,
  due_on: null,
  ...more,
});
const planned = (given: Arguments, live: readonly object[]) =>
  syncMilestones.plan(
    given,
    makeFacts({ milestones: live }, { subject: { kind: 'repository' } }),
    makeContext(),
  );

describe('the plan', () => {
  const cases: readonly [string, Arguments, readonly object[], readonly unknown[]][] = [
    [
      'creates a missing milestone with the given fields',
      { milestones: [{ title: 'v1', description: 'First', due_on: '2026-12-31', state: 'closed' }] },
      [],
      [
        {
          operation: 'milestone.create',
          target: 'milestone:v1',
          input: {
            params: { owner: 'acme', repo: 'site' },
            body: { title: 'v1', description: 'First', due_on: '2026-12-31T12:00:00Z', state: 'closed' },
          },
          before: null,
        },
      ],
    ],
    [
      'marks a milestone in the desired state, also one that is closed',
      { milestones: [{ title: 'v1', state: 'closed' }] },
      [milestone(1, 'v1', { state: 'closed', description: 'By hand' })],
      [{ already: true }],
    ],
    [
      'sends the due date with each edit, because an edit without it clears it',
      { milestones: [{ title: 'v1', description: 'New' }] },
      [milestone(1, 'v1', { due_on: '2026-12-31T23:59:59+01:00' })],
      [
        {
          operation: 'milestone.edit',
          input: { params: { id: 1 }, body: { description: 'New', due_on: '2026-12-31T23:59:59+01:00' } },
          reason: 'different: description',
        },
      ],
    ],
    [
      'takes the day of the forge and the day in UTC for the due date',
      {
        milestones: [
          { title: 'east', due_on: '2026-12-31' },
          { title: 'west', due_on: '2026-12-31' },
        ],
      },
      [
        milestone(1, 'east', { due_on: '2027-01-01T00:59:59+01:00' }),
        milestone(2, 'west', { due_on: '2026-12-31T23:59:59-08:00' }),
      ],
      [{ already: true }, { already: true }],
    ],
    [
      'keeps others without prune',
      { milestones: [{ title: 'v1' }] },
      [milestone(1, 'v1'), milestone(2, 'old')],
      [{ already: true }],
    ],
    [
      'deletes others last with prune, and none that has an item',
      { milestones: [{ title: 'v1' }], prune: true },
      [
        milestone(1, 'v1'),
        milestone(2, 'old'),
        milestone(3, 'open', { open_issues: 1 }),
        milestone(4, 'done', { closed_issues: 2 }),
        milestone(5, 'unknown', { closed_issues: undefined }),
      ],
      [
        { already: true },
        { operation: 'milestone.delete', input: { params: { id: 2 } }, stage: 2, removes: { there: 5 } },
        { waits: { why: 'the milestone "open" has 1 item (issues and pull requests): it is not deleted' } },
        { waits: { why: 'the milestone "done" has 2 items (issues and pull requests): it is not deleted' } },
        { waits: { why: expect.stringContaining('does not say how many') } },
      ],
    ],
  ];

  it.each(cases)('%s', async (_title, given, live, expected) => {
    const changes = await planned(given, live);

    expect(changes).toMatchObject(expected);
    expect(changes).toHaveLength(expected.length);
    expect(changes[1]?.waits).toBeUndefined();
  });

  it('fails for two milestones with one title', async () => {
    await expect(
      planned({ milestones: [{ title: 'v1' }] }, [milestone(1, 'v1'), milestone(2, 'v1')]),
    ).rejects.toThrow('2 milestones named "v1"');
  });
});

it.each([
  [{ milestones: [{ title: 'v1 ' }] }],
  [{ milestones: [{ title: '' }] }],
  [{ milestones: [{ title: 'v1', due_on: '2026-02-30' }] }],
  [{ milestones: [{ title: 'v1', due_on: '2026-12-31T00:00:00Z' }] }],
  [{ milestones: [] }],
])('refuses %j at load', (given) => {
  expect(syncMilestones.arguments.safeParse(given).success).toBe(false);
});

it('refuses a title that is listed twice', () => {
  const found = syncMilestones.examine?.({ milestones: [{ title: 'v1' }, { title: 'v2' }, { title: 'v1' }] });

  expect(found).toMatchObject([{ path: ['milestones', 2, 'title'] }]);
});

it('detects what the forge did not accept', async () => {
  const [change] = await planned({ milestones: [{ title: 'v1', description: 'New' }] }, [milestone(1, 'v1')]);
  if (change === undefined) throw new Error('no change');

  expect(syncMilestones.confirm?.(change, milestone(1, 'v1', { description: 'New' }))).toBeUndefined();
  expect(syncMilestones.confirm?.(change, milestone(1, 'v1'))).toContain('did not accept description');
});
