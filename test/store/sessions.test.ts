import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRow } from '../../src/store/session-rows.ts';
import { type MadeStore, storeKinds } from '../support/store-kinds.ts';

const lifeMs = 60_000;
const limits = { lifeMs, maxSessions: 1_000, maxOfPerson: 10 };
const row = (key: string, given: Partial<SessionRow> = {}): SessionRow => ({
  key,
  person: key,
  isOperator: false,
  sealed: `sealed ${key}`,
  ...given,
});

describe.each(storeKinds)('the sessions of the dashboard in $title', ({ make }) => {
  let nowMs = 0;
  let made: MadeStore;
  beforeEach(async () => {
    nowMs = Date.UTC(2030, 0, 1);
    made = await make({ clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs } });
  });
  afterEach(() => made.close());
  const keysThere = async (keys: readonly string[]): Promise<readonly string[]> => {
    const found = await Promise.all(
      keys.map(async (key) => [key, await made.store.sessions.read(key)] as const),
    );
    return found.flatMap(([key, session]) => (session ? [key] : []));
  };

  it('exist until they end, and have an age', async () => {
    const { sessions } = made.store;
    await sessions.add(row('a'), limits);

    nowMs += lifeMs - 1;
    expect(await sessions.read('a')).toEqual({ sealed: 'sealed a', ageMs: lifeMs - 1 });
    nowMs += 1;
    expect(await sessions.read('a')).toBeUndefined();
    expect(await sessions.read('b')).toBeUndefined();
  });

  it('are removed individually, and all at once', async () => {
    const { sessions } = made.store;
    for (const key of ['a', 'b', 'c']) await sessions.add(row(key), limits);

    await sessions.remove('b');
    await sessions.remove('none');
    expect(await keysThere(['a', 'b', 'c'])).toEqual(['a', 'c']);
    await sessions.removeAll();
    expect(await keysThere(['a', 'b', 'c'])).toEqual([]);
  });

  it('of one person end when there are too many, the oldest first, without affecting other people', async () => {
    const { sessions } = made.store;
    await sessions.add(row('other'), limits);
    const keys = Array.from({ length: 12 }, (_, n) => `own ${n}`);
    for (const key of keys) await sessions.add(row(key, { person: 'ada' }), limits);

    expect(await keysThere(['other', ...keys])).toEqual(['other', ...keys.slice(2)]);
  });

  it("of other people do not end an operator's sessions", async () => {
    const { sessions } = made.store;
    const few = { ...limits, maxSessions: 5 };
    await sessions.add(row('operator', { isOperator: true }), few);
    const keys = Array.from({ length: 8 }, (_, n) => `other ${n}`);
    for (const key of keys) await sessions.add(row(key), few);

    expect(await keysThere(['operator', ...keys])).toEqual(['operator', ...keys.slice(-4)]);
  });

  it('that have ended do not count towards the limit', async () => {
    const { sessions } = made.store;
    const few = { ...limits, maxSessions: 2 };
    await sessions.add(row('a', { isOperator: true }), { ...few, lifeMs: 10 });
    await sessions.add(row('b'), few);
    nowMs += 10;
    await sessions.add(row('c'), few);

    expect(await keysThere(['a', 'b', 'c'])).toEqual(['b', 'c']);
  });

  it('are renewed by one process at a time, and only by a process that read the latest state', async () => {
    const { sessions } = made.store;
    await sessions.add(row('a'), limits);

    expect(await sessions.claimRenewal('a', 'sealed before', 1_000)).toBe(false);
    expect(await sessions.claimRenewal('a', 'sealed a', 1_000)).toBe(true);
    expect(await sessions.claimRenewal('a', 'sealed a', 1_000)).toBe(false);
    nowMs += 500;
    await sessions.reseal('a', 'sealed again');
    expect(await sessions.claimRenewal('a', 'sealed a', 1_000)).toBe(false);
    nowMs += 100;
    expect(await sessions.read('a')).toEqual({ sealed: 'sealed again', ageMs: 100 });

    expect(await sessions.claimRenewal('a', 'sealed again', 1_000)).toBe(true);
    await sessions.releaseRenewal('a');
    expect(await sessions.claimRenewal('a', 'sealed again', 1_000)).toBe(true);
    // The process that claimed the renewal has died.
    nowMs += 1_000;
    expect(await sessions.claimRenewal('a', 'sealed again', 1_000)).toBe(true);
    // A renewal does not extend a session.
    nowMs += lifeMs - 1_600;
    expect(await sessions.read('a')).toBeUndefined();
  });

  it('that are created again under the same key have no renewal claim, and a missing session is not renewed', async () => {
    const { sessions } = made.store;
    for (const end of [() => sessions.remove('a'), () => sessions.removeAll()]) {
      await sessions.add(row('a'), limits);
      expect(await sessions.claimRenewal('a', 'sealed a', 1_000)).toBe(true);
      await end();
      expect(await sessions.read('a')).toBeUndefined();
    }
    await sessions.reseal('b', 'sealed again');
    expect(await sessions.claimRenewal('b', 'sealed again', 1_000)).toBe(false);

    await sessions.add(row('a'), limits);

    expect(await sessions.claimRenewal('a', 'sealed a', 1_000)).toBe(true);
  });
});
