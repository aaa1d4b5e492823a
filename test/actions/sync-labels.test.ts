import { describe, expect, it } from 'vitest';
import { syncLabels } from '../../src/actions/sync-labels.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type Arguments = Parameters<typeof syncLabels.plan>[0];
const label = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  color: 'ff0000',
  description: '',
  exclusive: false,
  is_archived: false,
  ...more,
});
const planned = (given: Arguments, own_labels: unknown, kind: 'repository' | 'organization' = 'repository') =>
  syncLabels.plan(
    given,
    makeFacts({ own_labels }, { subject: kind === 'repository' ? { kind } : { kind, organization: 'acme' } }),
    makeContext(),
  );
const red = { color: 'ff0000' };

describe('the plan', () => {
  const cases: readonly [string, Arguments, readonly unknown[], readonly unknown[]][] = [
    [
      'creates missing labels with the given fields',
      { labels: [{ name: 'bug', color: '#F00', description: 'Broken' }] },
      [],
      [
        {
          operation: 'label.create',
          target: 'label-definition:bug',
          input: {
            params: { owner: 'acme', repo: 'site' },
            body: { name: 'bug', color: 'ff0000', description: 'Broken' },
          },
        },
      ],
    ],
    [
      'marks what is already in the desired state',
      { labels: [{ name: 'bug', ...red }] },
      [label(1, 'bug')],
      [{ already: true }],
    ],
    [
      'edits what differs and sends the archived flag, because omitting it un-archives',
      { labels: [{ name: 'bug', color: '00ff00' }] },
      [label(1, 'bug', { is_archived: true })],
      [
        {
          operation: 'label.edit',
          input: { params: { id: 1 }, body: { color: '00ff00', is_archived: true } },
        },
      ],
    ],
    [
      'un-archives a label if the rule says so',
      { labels: [{ name: 'bug', ...red, archived: false }] },
      [label(1, 'bug', { is_archived: true })],
      [
        {
          input: { body: { is_archived: false } },
          before: { is_archived: true },
          after: { is_archived: false },
        },
      ],
    ],
    [
      'renames a label with a former name',
      { labels: [{ name: 'kind/bug', ...red, previously: ['defect', 'bug'] }] },
      [label(4, 'bug')],
      [{ operation: 'label.edit', input: { params: { id: 4 }, body: { name: 'kind/bug' } } }],
    ],
    [
      'leaves a former name alone once the new one exists',
      { labels: [{ name: 'kind/bug', ...red, previously: ['bug'] }] },
      [label(4, 'bug'), label(5, 'kind/bug')],
      [{ already: true }],
    ],
    [
      'removes other labels last, if it prunes',
      { labels: [{ name: 'bug', ...red }], prune: true },
      [label(1, 'bug'), label(2, 'old')],
      [
        { already: true },
        { operation: 'label.delete', target: 'label-definition:old', stage: 2, after: null },
      ],
    ],
    [
      'does not remove a label that it renames',
      { labels: [{ name: 'kind/bug', ...red, previously: ['bug'] }], prune: true },
      [label(1, 'bug')],
      [{ operation: 'label.edit' }],
    ],
  ];

  it.each(cases)('%s', async (_title, given, own, expected) => {
    const changes = await planned(given, own);

    expect(changes).toMatchObject(expected);
    expect(changes).toHaveLength(expected.length);
  });

  it('uses the labels of the organization if that is the subject', async () => {
    const changes = await planned(
      {
        labels: [
          { name: 'bug', color: '00ff00' },
          { name: 'new', ...red },
        ],
        prune: true,
      },
      [label(1, 'bug'), label(2, 'old')],
      'organization',
    );

    expect(changes.map(({ operation, input }) => [operation, input.params])).toEqual([
      ['organization.edit-label', { org: 'acme', id: 1 }],
      ['organization.create-label', { org: 'acme' }],
      ['organization.delete-label', { org: 'acme', id: 2 }],
    ]);
  });

  it('reports how many labels exist, so that too many removals are refused', async () => {
    const changes = await planned({ labels: [{ name: 'bug', ...red }], prune: true }, [
      label(1, 'bug'),
      label(2, 'old'),
    ]);

    expect(changes[1]?.removes).toEqual({ from: 'labels', there: 2 });
  });

  it('fails for two labels with the same name', async () => {
    await expect(
      planned({ labels: [{ name: 'bug', ...red }] }, [label(1, 'bug'), label(2, 'bug')]),
    ).rejects.toThrow('2 labels named "bug"');
  });
});

it('sync-labels detects what the forge did not accept', async () => {
  const [change] = await planned({ labels: [{ name: 'bug', ...red, archived: true }] }, []);
  if (!change) throw new Error('no change');

  expect(syncLabels.confirm?.(change, label(1, 'bug', { is_archived: true }))).toBeUndefined();
  expect(syncLabels.confirm?.(change, label(1, 'bug'))).toContain('is_archived');
});

it('sync-labels refuses a label that is named twice, also by a former name', () => {
  const written = {
    labels: [
      { name: 'a', ...red },
      { name: 'b', ...red, previously: ['a'] },
    ],
  };

  expect(syncLabels.examine?.(written)).toEqual([
    { path: ['labels', 1, 'previously', 0], message: 'the label "a" is listed twice in this step' },
  ]);
});
