import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { operations } from '../../src/contract/operations.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { makeContext } from '../support/make-context.ts';

const subject = {
  kind: 'pull_request',
  index: 7,
  repository: { id: 1, owner: 'acme', name: 'demo' },
} as const;

function factsOf(given: Record<string, unknown>) {
  return createGivenFacts({ subject, given });
}

type Arguments = Parameters<typeof setLabels.plan>[0];

/** Returns the plan as `+label`, `-label`, `=label` (already as wanted) and `new label`. */
async function planned(given: Arguments, facts: Record<string, unknown>): Promise<readonly string[]> {
  const changes = await setLabels.plan(given, factsOf(facts), makeContext());
  return changes.map(({ target, value, already, stage }) => {
    const name = target.slice(target.indexOf(':') + 1);
    return stage === 0 ? `new ${name}` : `${already ? '=' : ''}${value ? '+' : '-'}${name}`;
  });
}

async function body(given: Arguments, facts: Record<string, unknown>): Promise<unknown> {
  const changes = await setLabels.plan(given, factsOf(facts), makeContext());
  const writes = changes.filter(({ already, stage }) => !already && stage !== 0);
  return (await setLabels.join?.(writes, factsOf(facts)))?.body;
}

const defined = (name: string, id: number, more: object = {}) => ({ id, name, level: 'repository', ...more });

describe('the plan', () => {
  const cases: readonly [string, Arguments, Record<string, unknown>, readonly string[]][] = [
    ['adds missing labels', { add: ['bug'] }, { labels: [], label_definitions: ['bug'] }, ['+bug']],
    ['marks labels that are already present', { add: ['bug'] }, { labels: ['bug'] }, ['=+bug']],
    ['removes present labels', { remove: ['bug'] }, { labels: ['bug', 'kept'] }, ['-bug']],
    ['marks labels that are already absent', { remove: ['bug'] }, { labels: ['kept'] }, ['=-bug']],
    [
      'follows conditions both ways',
      { sync: { a: true, b: false, c: true } },
      { labels: ['b', 'c'], label_definitions: ['a', 'b', 'c'] },
      ['+a', '=+c', '-b'],
    ],
    [
      'adds by condition, and removes nothing',
      { add: { a: true, b: false, c: true } },
      { labels: ['b', 'c'], label_definitions: ['a', 'b', 'c'] },
      ['+a', '=+c'],
    ],
    [
      'replaces a label that excludes it',
      { add: ['size/L'] },
      {
        labels: [{ id: 1, name: 'size/S', exclusive: true }],
        label_definitions: [
          defined('size/S', 1, { exclusive: true }),
          defined('size/L', 2, { exclusive: true }),
        ],
      },
      ['+size/L', '-size/S'],
    ],
    [
      'leaves labels of the scope that exclude nothing',
      { add: ['size/L'] },
      { labels: ['size/S'], label_definitions: [defined('size/L', 2, { exclusive: true })] },
      ['+size/L'],
    ],
    [
      'creates a label that does not exist',
      { add: ['fresh'], create: { color: '#00FF00' } },
      { labels: [], label_definitions: ['other'] },
      ['new fresh', '+fresh'],
    ],
    [
      'does not create a label that the organization has',
      { add: ['shared'], create: { color: '00ff00' } },
      { labels: [], label_definitions: [{ id: 9, name: 'shared', level: 'organization' }] },
      ['+shared'],
    ],
    ['plans by name if a simulation does not know the labels', { add: ['bug'] }, { labels: [] }, ['+bug']],
  ];

  it.each(cases)('%s', async (_title, given, facts, expected) => {
    expect([...(await planned(given, facts))].sort()).toEqual([...expected].sort());
  });

  const failures: readonly [string, Arguments, Record<string, unknown>, string][] = [
    [
      'an unknown label',
      { add: ['bug'] },
      { labels: [], label_definitions: ['other'] },
      'there is no label "bug"',
    ],
    [
      'two labels with the same name on one level',
      { add: ['bug'] },
      { labels: [], label_definitions: [defined('bug', 1), defined('bug', 2)] },
      '2 labels named "bug"',
    ],
    [
      'two wanted labels of one exclusive scope',
      { sync: { 'size/S': true, 'size/L': true } },
      {
        labels: [],
        label_definitions: [
          defined('size/S', 1, { exclusive: true }),
          defined('size/L', 2, { exclusive: true }),
        ],
      },
      'exclude each other',
    ],
    ['labels that cannot be read', { add: ['bug'] }, { label_definitions: ['bug'] }, 'labels is not given'],
  ];

  it.each(failures)('fails for %s', async (_title, given, facts, words) => {
    await expect(planned(given, facts)).rejects.toThrow(words);
  });
});

describe('the single request', () => {
  it('contains the ids of kept and added labels, with those of the repository before those of the organization', async () => {
    const facts = {
      labels: [
        { id: 3, name: 'kept' },
        { id: 4, name: 'gone' },
      ],
      label_definitions: [
        defined('bug', 8),
        { id: 9, name: 'bug', level: 'organization' },
        { id: 5, name: 'shared', level: 'organization' },
      ],
    };

    expect(await body({ add: ['bug', 'shared'], remove: ['gone'] }, facts)).toEqual({ labels: [3, 5, 8] });
  });

  it('omits the label that the new one excludes, regardless of what the forge would do with both', async () => {
    const facts = {
      labels: [{ id: 1, name: 'size/S', exclusive: true }],
      label_definitions: [defined('size/L', 2, { exclusive: true })],
    };

    expect(await body({ add: ['size/L'] }, facts)).toEqual({ labels: [2] });
  });

  it('never mixes ids and names', async () => {
    expect(await body({ add: ['bug'] }, { labels: ['kept'] })).toEqual({ labels: ['kept', 'bug'] });
  });
});

it('set-labels detects a label that the forge dropped', async () => {
  const [change] = await setLabels.plan(
    { add: ['bug'] },
    factsOf({ labels: [], label_definitions: ['bug'] }),
    makeContext(),
  );
  if (!change) throw new Error('no change');

  expect(setLabels.confirm?.(change, [{ id: 1, name: 'bug' }])).toBeUndefined();
  expect(setLabels.confirm?.(change, [])).toContain('dropped');
});

it('set-labels refuses a label that is named twice', () => {
  expect(setLabels.examine?.({ add: ['a', 'b'], sync: { a: true } })).toEqual([
    { path: ['sync', 'a'], message: 'the label "a" is listed twice in this step' },
  ]);
});

it('a label with a condition under add is listed once, and explained by its condition', () => {
  const written = { add: { bug: 'touches("src/**")' }, remove: ['bug'] };
  const change = { target: 'label:bug', value: true } as unknown as Change;

  expect(setLabels.examine?.(written as never)).toEqual([
    { path: ['remove', 0], message: 'the label "bug" is listed twice in this step' },
  ]);
  expect(setLabels.words?.({ ...change, operation: operations.replaceIssueLabels.id }, written)).toBe(
    'touches("src/**") holds',
  );
});
