import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStoredMemory, storedMemoryKey } from '../../../src/store/action-memory.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeStore } from '../../support/make-store.ts';
import { makeDelivery, makeRun } from '../make.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
let store: Store;
let nowMs: number;
let uptimeMs: number;
const clock = { now: () => new Date(nowMs), monotonicMs: () => uptimeMs };
beforeEach(async () => {
  nowMs = Date.parse('2026-03-01T12:00:00.000Z');
  uptimeMs = 1_000;
  made = await makeStore({ clock });
  store = made.store;
});
afterEach(() => made.close());
const acceptIn = async (lane: string): Promise<string> => {
  const { id } = await store.accept(makeDelivery({ receivedAt: clock.now() }));
  await store.route([{ id, to: 'lane', lane, repositoryId: 7 }]);
  return id;
};
const claim = (given: Partial<Parameters<Store['claim']>[0]> = {}) =>
  store.claim({ limit: 10, leaseMs: 60_000, ...given });
const claimOne = async () => {
  const [one] = await claim({ limit: 1 });
  if (one === undefined) throw new Error('nothing to claim');
  return one;
};

describe('a wait', () => {
  const retryMs = async (id: string): Promise<number> =>
    ((await store.describeDelivery(id))?.retryAt?.getTime() ?? 0) - nowMs;

  it('tolerates a clock that goes back by up to a second', async () => {
    const id = await acceptIn('1');
    await store.retry(await claimOne(), { afterMs: 60_000, reason: 'later' });
    nowMs -= 1_000;
    await claim();
    expect(await retryMs(id)).toBe(61_000);

    nowMs -= 1_001;
    await claim();

    expect(await retryMs(id)).toBe(60_000);
  });

  it('is measured against the uptime of the process', async () => {
    const id = await acceptIn('1');
    await store.retry(await claimOne(), { afterMs: 60_000, reason: 'later' });
    nowMs += 10_000;
    uptimeMs += 10_000;
    await claim();
    expect(await retryMs(id)).toBe(50_000);

    // Two hours passed, and the clock was set back by two hours, so no claim saw the clock advance.
    uptimeMs += 7_200_000;
    await claim();

    expect(await retryMs(id)).toBe(50_000);
    nowMs -= 20_000;
    await claim();
    expect(await retryMs(id)).toBe(60_000);
  });
});

describe('leases', () => {
  it('that ended are given away once, and the later ones have their full duration', async () => {
    const id = await acceptIn('1');
    const first = await claimOne();
    uptimeMs += 59_999;
    expect(await claim()).toEqual([]);
    uptimeMs += 1;

    const second = await claimOne();

    expect([first.id, second.id, second.attempts]).toEqual([id, id, 2]);
    await expect(store.heartbeat(first, 60_000)).rejects.toMatchObject({
      code: 'lease-lost',
      message: `delivery ${id} is no longer ours: its lease has ended`,
    });
    uptimeMs += 59_999;
    await store.heartbeat(second, 1_000);
    expect(await claim()).toEqual([]);
    uptimeMs += 1_000;
    expect(await claim()).toMatchObject([{ id, attempts: 3 }]);
  });

  it('of settled deliveries are not given away again', async () => {
    const id = await acceptIn('1');
    const one = await claimOne();
    await store.settle(one, []);
    await expect(store.settle(one, [])).rejects.toMatchObject({ code: 'lease-lost' });
    await store.redrive([id], 'ada', { settled: true });
    uptimeMs += 60_000;

    expect(await claim()).toEqual([]);
    expect((await store.describeDelivery(id))?.state).toBe('accepted');
  });
});

it('a suspected delivery is claimed only in its own turn, and not by a claim of given lanes', async () => {
  for (const lane of ['1', '2']) await acceptIn(lane);
  await claim();
  await store.close();
  store = await openSqliteStore({ path: made.path, role: 'worker', clock });

  expect(await claim({ only: ['1'] })).toEqual([]);
  expect(await claim()).toHaveLength(1);
  await store.close();
});

it.each([
  [true, 1],
  [false, 2],
])(
  'a suspected delivery that is released is suspected further if its attempt had not begun: %s',
  async (isUnbegun, together) => {
    for (const lane of ['1', '2']) await acceptIn(lane);
    await claim();
    await store.close();
    store = await openSqliteStore({ path: made.path, role: 'worker', clock });
    await acceptIn('3');

    const [first] = await claim();
    if (first === undefined) throw new Error('nothing to claim');
    await store.release(first, { isUnbegun });
    const [second] = await claim();
    if (second === undefined) throw new Error('nothing to claim');
    await store.settle(second, []);

    expect(await claim()).toHaveLength(together);
    await store.close();
  },
);

it('a save under the lease of another queue names the queue', async () => {
  const lease = await store.claimQueue({ repositoryId: 7, base: 'release' }, 60_000);

  const save = store.saveQueue({
    repositoryId: 7,
    base: 'main',
    repository: 'acme/shop',
    state: {},
    revision: 0,
    lease,
  });

  await expect(save).rejects.toMatchObject({
    code: 'lease-lost',
    message: 'the merge queue acme/shop main is no longer ours: its lease has ended',
  });
});

it('a queue saved without a state has the state null, and still exists', async () => {
  const key = { repositoryId: 7, base: 'main' };

  await store.saveQueue({ ...key, repository: 'acme/shop', state: undefined, revision: 0 });

  expect(await store.readQueue(key)).toMatchObject({ state: null, revision: 1 });
});

describe('the repository of a stored job or run', () => {
  it('is the given one, or otherwise the repository of its delivery', async () => {
    await acceptIn('1');
    const one = await claimOne();

    await store.advance(one, { runs: [makeRun({ id: 'a' })], repositoryId: 9, checkpoint: undefined });
    expect((await store.describeDelivery(one.id))?.checkpoint).toBeNull();
    await store.advance(one, { runs: [makeRun({ id: 'b' })], checkpoint: { page: 2 } });
    await store.bury(one, 'refused', [makeRun({ id: 'c' })]);

    const runsOf = async (repositoryId: number) =>
      (await store.listRuns({ repositoryId })).items.map(({ id }) => id);
    expect([await runsOf(9), await runsOf(7)]).toEqual([['a'], ['c', 'b']]);
    expect((await store.describeDelivery(one.id))?.checkpoint).toEqual({ page: 2 });
  });

  it('data that is not plain fails before anything is written', async () => {
    const id = await acceptIn('1');
    const one = await claimOne();
    const run = { ...makeRun({}), ms: 1n as unknown as number };

    for (const failing of [
      store.settle(one, [run]),
      store.bury(one, 'refused', [run]),
      store.advance(one, { runs: [run], checkpoint: 1 }),
      store.defer(one, [run], { afterMs: 1, why: 'later' }),
      store.appendRuns([run]),
    ])
      await expect(failing).rejects.toThrow('BigInt');

    expect(await store.describeDelivery(id)).toMatchObject({ state: 'claimed', checkpoint: undefined });
    await store.settle(one, [], 'nothing to do');
    expect(await store.describeDelivery(id)).toMatchObject({ state: 'settled', reason: 'nothing to do' });
  });
});

it('repeated failures add up their attempts and keep the time of the first failure', async () => {
  const id = await acceptIn('1');
  const start = clock.now();
  await store.retry(await claimOne(), { afterMs: 1_000, reason: 'first' });
  nowMs += 1_000;
  uptimeMs += 1_000;
  await store.retry(await claimOne(), { afterMs: 1_000, reason: 'second' });

  expect(await store.describeDelivery(id)).toMatchObject({
    attempts: 2,
    failingSince: start,
    reason: 'second',
  });
  nowMs += 1_000;
  uptimeMs += 1_000;
  await store.defer(await claimOne(), [], { afterMs: 1_000, why: 'a budget' });
  expect(await store.describeDelivery(id)).toMatchObject({ attempts: 2, failingSince: undefined });
});

describe('plain data', () => {
  it('of actions has its own key space', async () => {
    const memory = createStoredMemory(store);
    await store.remember('key', 'of another part');

    await memory.set('key', 1);
    expect(await memory.revise('key', (value) => Number(value) + 1)).toBe(2);

    expect([await memory.get('key'), await store.recall(storedMemoryKey('key'))]).toEqual([2, 2]);
    expect(await store.recall('key')).toBe('of another part');
    expect(storedMemoryKey('key')).toBe('action key');
  });

  it('is edited once if nothing changes, and again within the write if something does', async () => {
    await store.remember('count', 1);
    const seen: unknown[] = [];
    const edit = (change: (value: unknown) => unknown) => (value: unknown) => {
      seen.push(value);
      return change(value);
    };

    const same = await store.revise(
      'count',
      edit((value) => value),
    );
    const more = await store.revise(
      'count',
      edit((value) => Number(value) + 1),
    );

    expect([same, more, seen]).toEqual([1, 2, [1, 1, 1]]);
    expect(await store.recall('count')).toBe(2);
  });
});

it('an empty list of occurrences raises no incident, and an empty list of keys ends none', async () => {
  await store.raise([]);
  expect(await store.clear('sweep-failed', [])).toBe(0);
  expect(await store.listIncidents()).toEqual([]);
});
