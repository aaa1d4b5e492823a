import { beforeEach, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Outcome, RecordedChange, Run } from '../../src/engine/record.ts';
import { revertRun } from '../../src/engine/revert.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { makeRun } from '../store/make.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

const params = { owner: 'acme', repo: 'demo', index: 1 };

/** Labels that the forge lists now; an error is thrown. */
let live: readonly object[] | Error;
/** Write requests that were sent. */
let sent: unknown[];
let refusals: Error[];
beforeEach(() => {
  [live, sent, refusals] = [[], [], []];
});

const change = (id: string, after: boolean, more: Partial<RecordedChange> = {}): RecordedChange => ({
  id,
  rules: ['r.yml#mark'],
  step: '1',
  action: 'set-labels',
  operation: operations.replaceIssueLabels.id,
  method: 'PUT',
  path: '/repos/acme/demo/issues/1/labels',
  input: { params, body: { labels: [] } },
  target: `label:${id}`,
  value: after,
  before: !after,
  after,
  reason: 'said',
  ...more,
});

async function revert(
  changes: readonly RecordedChange[],
  { mode = 'enforce', outcomes }: { mode?: 'enforce' | 'plan'; outcomes?: readonly Outcome[] } = {},
) {
  const client = {
    ...makeRecordingClient(),
    async *items() {
      if (live instanceof Error) throw live;
      yield* live;
    },
    async send({ id }: Operation, input: AnyInput) {
      sent.push([id, input.params, input.body]);
      const refusal = refusals.shift();
      if (refusal) throw refusal;
    },
  } as unknown as Client;
  const done: Run = {
    ...makeRun({}),
    id: 'r0',
    changes,
    outcomes: outcomes ?? changes.map(({ id }) => ({ change: id, status: 'applied' })),
  };
  const at = '2026-03-01T12:00:00Z';
  let clockMs = 5;
  const run = await revertRun(done, {
    id: 'r1',
    trigger: { door: 'cli', kind: 'revert', activity: '', item: 'r0', at },
    client,
    mode,
    clock: makeClock({
      monotonicMs() {
        clockMs += 7.4;
        return clockMs;
      },
    }),
  });
  const refused = run.refused.map(({ change: { target }, why }) => `${target}: ${why}`);
  return { run, refused, ends: run.outcomes.map(({ change: id, status }) => `${id} ${status}`) };
}

it('takes back the changes of a run in reverse order, and records that as a run', async () => {
  live = [{ id: 3, name: 'a' }];
  const { run, ends, refused } = await revert([change('a', true), change('b', false)]);

  expect(sent).toEqual([
    [operations.addIssueLabels.id, params, { labels: ['b'] }],
    [operations.removeIssueLabel.id, { ...params, id: 3 }, undefined],
  ]);
  expect([ends, refused]).toEqual([['b applied', 'a applied'], []]);
  expect(run).toMatchObject({ schema: 1, id: 'r1', mode: 'enforce', rules: [], requests: 0, ms: 7 });
  expect(run.trigger).toMatchObject({ kind: 'revert', item: 'r0' });
  expect(run.changes[1]).toMatchObject({
    target: 'label:a',
    before: true,
    after: false,
    value: false,
    reason: 'reverts run r0',
    operation: operations.removeIssueLabel.id,
    method: 'DELETE',
    path: '/repos/acme/demo/issues/1/labels/3',
  });
});

it('writes nothing in plan mode, and takes back only applied changes', async () => {
  live = [{ id: 3, name: 'a' }];
  const { ends } = await revert([change('a', true), change('b', true)], {
    mode: 'plan',
    outcomes: [
      { change: 'a', status: 'applied' },
      { change: 'b', status: 'failed' },
    ],
  });

  expect([ends, sent]).toEqual([['a planned'], []]);
});

it.each<[string, Partial<RecordedChange>, readonly object[] | Error, Outcome['made'], string]>([
  ['was changed since', {}, [], undefined, 'changed since: the value is false now'],
  [
    'was made something else of',
    {},
    [{ id: 3, name: 'a' }],
    { id: 4 },
    'changed since: the value is true now',
  ],
  ['has no way back', { operation: 'odd' }, [], undefined, 'odd cannot be reverted'],
  [
    'cannot be read',
    {},
    new Error('the forge answered 502'),
    undefined,
    'it cannot be read now: the forge answered 502',
  ],
])('leaves alone a change that %s, and takes back the rest', async (_title, more, now, made, why) => {
  live = now;
  const { ends, refused, run } = await revert([change('a', true, more)], {
    outcomes: [{ change: 'a', status: 'applied', ...(made && { made }) }],
  });

  expect([ends, refused, sent]).toEqual([[], [`label:a: ${why}`], []]);
  expect(run.refused[0]?.change).toMatchObject({ before: true, after: false, reason: 'reverts run r0' });
});

it('continues after a change that fails, and reports how to fix it', async () => {
  live = [{ id: 3, name: 'a' }];
  refusals = [new ReeveError('forge-forbidden', 'the forge answered 403', { status: 403 })];
  const { ends, run } = await revert([change('a', true), change('b', false)]);

  expect(ends).toEqual(['b failed', 'a applied']);
  expect(run.outcomes[0]?.error).toMatch(/^label:b: the forge answered 403; it needs writer access/);
});

it('takes back changes that shared one request with one request, and changes of two requests with two', async () => {
  const made = (id: string, pattern: string) =>
    change(id, true, {
      action: 'protect-tags',
      operation: operations.createTagProtection.id,
      input: { params: { owner: 'acme', repo: 'demo' }, body: { name_pattern: pattern } },
      before: null,
    });
  live = [
    { id: 4, name_pattern: 'v*' },
    { id: 5, name_pattern: 'w*' },
  ];
  const { ends } = await revert([made('a', 'v*'), made('b', 'v*'), made('c', 'w*')]);

  expect(ends).toEqual(['c applied', 'a applied']);
  expect(sent).toEqual(
    [5, 4].map((id) => [operations.deleteTagProtection.id, { owner: 'acme', repo: 'demo', id }, undefined]),
  );
});
