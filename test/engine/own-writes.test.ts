import { beforeEach, describe, expect, it } from 'vitest';
import { type Event, parseEvent } from '../../src/contract/events/events.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { OwnWrites } from '../../src/engine/bounds/own-writes.ts';
import { makeClock } from '../support/make-clock.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const secondMs = 1_000;
const minuteMs = 60_000;

let nowMs: number;
let stored: Map<string, unknown>;
let isShared: boolean;
const clock = makeClock({
  now: () => new Date(nowMs),
  sleep: async (ms) => {
    nowMs += ms;
  },
});
const store = {
  get isShared() {
    return isShared;
  },
  listProcesses: async () => [{}],
  recall: async (key: string) => stored.get(key),
  async revise(key: string, edit: (value: unknown) => unknown) {
    // The store keeps JSON.
    const value: unknown = JSON.parse(JSON.stringify(edit(stored.get(key)) ?? null));
    stored.set(key, value);
    return value;
  },
};
beforeEach(() => {
  nowMs = start;
  stored = new Map();
  isShared = false;
});

const at = { owner: 'acme', repo: 'demo' };
const repositoryOf = (full_name = 'acme/demo') => ({
  id: 1,
  full_name,
  owner: { id: 2 },
  default_branch: 'main',
});
const sender = { id: 9, login: 'ada' };
const event = (type: string, payload: object): Event =>
  parseEvent(type, { repository: repositoryOf(), sender, ...payload });
const stateOf = (number: number, state: string, more: object = {}) =>
  event('issues', {
    action: state === 'closed' ? 'closed' : 'reopened',
    number,
    issue: { number, state, ...more },
  });

let deliveries = 0;
/** Returns who caused an event that arrives now, or in a repeat of an earlier delivery. */
async function causer(writes: OwnWrites, found: Event, first?: { id: string; atMs: number }) {
  deliveries += 1;
  const id = String(deliveries);
  const receivedAt = new Date(nowMs);
  const { id: firstId = id, atMs = nowMs } = first ?? {};
  return writes.find(found, { id, receivedAt, firstId, firstAt: new Date(atMs) });
}

async function write(writes: OwnWrites, operation: Operation, input: AnyInput, answer?: unknown) {
  const end = await writes.begin(operation, input);
  await end?.(answer);
}
const close = (index: number): AnyInput => ({ params: { ...at, index }, body: { state: 'closed' } });

describe.each([false, true])('with a shared store: %s', (shared) => {
  let writes: OwnWrites;
  beforeEach(async () => {
    isShared = shared;
    writes = await OwnWrites.open(store, clock);
    nowMs += minuteMs;
  });

  it('a write explains one event; the next one with the same result is of a person', async () => {
    await write(writes, operations.editIssue, close(5));
    nowMs += secondMs;
    expect(await causer(writes, stateOf(5, 'closed'))).toBe('reeve');
    expect(await causer(writes, stateOf(5, 'closed'))).toBe('person');
    expect(await causer(writes, stateOf(6, 'closed'))).toBe('person');
  });

  it('a repeated delivery is explained like the first one', async () => {
    await write(writes, operations.editIssue, close(5));
    const first = { id: '1000', atMs: nowMs };
    await writes.find(stateOf(5, 'closed'), {
      id: '1000',
      receivedAt: new Date(nowMs),
      firstId: '1000',
      firstAt: new Date(nowMs),
    });
    nowMs += 60 * minuteMs;
    expect(await causer(writes, stateOf(5, 'closed'), first)).toBe('reeve');
  });

  it('a refused write explains nothing', async () => {
    const end = await writes.begin(operations.editIssue, close(5));
    await end?.(undefined, true);
    nowMs += secondMs;
    expect(await causer(writes, stateOf(5, 'closed'))).toBe('person');
  });

  it('a merge explains what the forge closes in another repository, for ten seconds of the forge', async () => {
    await write(writes, operations.mergePull, { params: { ...at, index: 7 }, body: { do: 'merge' } });
    const elsewhere = (updated_at: string, number = 3) => {
      const closed = stateOf(number, 'closed', { updated_at });
      return {
        ...closed,
        repository: { id: 4, owner: 'acme', name: 'ops' },
        payload: { ...closed.payload, repository: repositoryOf('acme/ops') },
      };
    };
    const during = new Date(nowMs + secondMs).toISOString();
    nowMs += minuteMs;
    expect(await causer(writes, elsewhere(during))).toBe('reeve');
    expect(await causer(writes, elsewhere(new Date(nowMs).toISOString()))).toBe('person');
    // The number of the merged pull request is another one there.
    expect(await causer(writes, elsewhere(new Date(nowMs).toISOString(), 7))).toBe('person');
  });

  it('an update of a head explains its merge commit, and no other push', async () => {
    await write(writes, operations.updatePull, { params: { ...at, index: 7 } });
    const push = (message: string) =>
      event('push', { ref: 'refs/heads/topic', before: 'a', after: 'b', head_commit: { message } });
    expect(await causer(writes, push("Merge branch 'main' into topic"))).toBe('reeve');
    expect(await causer(writes, push('my work'))).toBe('person');
  });

  it('a run on a commit of Reeve is its own, and one on another commit is not', async () => {
    const body = { message: 'x', files: [] };
    await write(writes, operations.changeFiles, { params: at, body }, { commit: { sha: 'abc' } });
    const run = (head_sha: string) =>
      event('workflow_run', { action: 'completed', workflow_run: { id: 1, head_sha, event: 'push' } });
    nowMs += 30 * minuteMs;
    expect(await causer(writes, run('abc'))).toBe('reeve');
    expect(await causer(writes, run('abc'))).toBe('reeve');
    expect(await causer(writes, run('def'))).toBe('person');
  });

  it('without the id of a run, jobs are those of a dispatch', async () => {
    const input = { params: { ...at, workflow_id: 'ci.yml' }, body: { ref: 'main' } };
    const job = event('workflow_job', {
      action: 'completed',
      workflow_job: { id: 1, run_id: 2, name: 'x', status: 'x' },
    });
    expect(await causer(writes, job)).toBe('person');
    await write(writes, operations.dispatchWorkflow, input);
    nowMs += 30 * minuteMs;
    expect(await causer(writes, job)).toBe('reeve');
  });

  it('a request to a team explains the events of its members', async () => {
    const input = { params: { ...at, index: 7 }, body: { reviewers: [], team_reviewers: ['devs'] } };
    await write(writes, operations.requestReviews, input);
    const asked = event('pull_request_review_request', {
      action: 'review_requested',
      number: 7,
      pull_request: { number: 7 },
      requested_reviewer: { login: 'ben' },
    });
    expect(await causer(writes, asked)).toBe('reeve');
  });

  it('an event under a former name of the repository is unknown if nothing explains it', async () => {
    const renamed: Event = { ...stateOf(5, 'closed'), repository: { id: 1, owner: 'acme', name: 'renamed' } };
    expect(await causer(writes, renamed)).toBe('unknown');
    await write(writes, operations.editIssue, close(5));
    expect(await causer(writes, renamed)).toBe('reeve');
  });

  it('an event from before the record, or before dropped writes, is unknown', async () => {
    expect(await causer(writes, stateOf(5, 'closed', { updated_at: '2026-03-01T11:00:00Z' }))).toBe(
      'unknown',
    );
    const early = new Date(nowMs).toISOString();
    for (let index = 1; index <= 200; index += 1) {
      nowMs += secondMs;
      await write(writes, operations.editIssue, close(index));
    }
    nowMs += secondMs;
    expect(await causer(writes, stateOf(999, 'closed', { updated_at: early }))).toBe('unknown');
    expect(await causer(writes, stateOf(999, 'closed'))).toBe('person');
    expect(await causer(writes, stateOf(200, 'closed'))).toBe('reeve');
  });
});

it('the record survives a stop, knows the gap, and begins anew after a crash or with the other kind of store', async () => {
  const first = await OwnWrites.open(store, clock);
  nowMs += minuteMs;
  await write(first, operations.editIssue, close(5));
  const before = new Date(nowMs).toISOString();
  nowMs += minuteMs;
  await first.close();
  const during = new Date(nowMs + minuteMs).toISOString();
  nowMs += 10 * minuteMs;
  const second = await OwnWrites.open(store, clock);
  nowMs += minuteMs;
  expect(await causer(second, stateOf(5, 'closed', { updated_at: before }))).toBe('reeve');
  expect(await causer(second, stateOf(6, 'closed', { updated_at: before }))).toBe('person');
  expect(await causer(second, stateOf(6, 'closed', { updated_at: during }))).toBe('unknown');

  // No stop: a crash.
  const third = await OwnWrites.open(store, clock);
  expect(await causer(third, stateOf(6, 'closed', { updated_at: before }))).toBe('unknown');
  await third.close();
  isShared = true;
  const copied = await OwnWrites.open(store, clock);
  expect(await causer(copied, stateOf(6, 'closed', { updated_at: before }))).toBe('unknown');
});

it('an event waits for the response of a write in progress', async () => {
  const writes = await OwnWrites.open(store, clock);
  const body = { message: 'x', files: [] };
  const end = await writes.begin(operations.changeFiles, { params: at, body });
  const found = causer(writes, event('push', { ref: 'refs/heads/other', before: 'a', after: 'abc' }));
  await end?.({ commit: { sha: 'abc' } });
  expect(await found).toBe('reeve');
});
