import type pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type Network, openNetwork } from '../../../scripts/harness/network.ts';
import { lockClassOf } from '../../../src/store/postgres/address.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Liveness } from '../../../src/store/postgres/presence.ts';
import type { Claim, Store } from '../../../src/store/store.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';
import { makeDelivery } from '../make.ts';

/**
 * A process without its lock counts as dead at once. A process that still has its lock counts as dead only after a time
 * longer than any test.
 */
const liveness: Liveness = { beatMs: 50, silentMs: 300, lifeMs: 10_000 };

/** Process that shares the store, with a network of its own in between. */
type Member = { readonly store: Store; readonly network: Network; workerId(): Promise<string> };

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Opens a schema with two processes, and a separate connection. */
async function openPair(given: Liveness = liveness) {
  const url = await makeSchema();
  const join = async (): Promise<Member> => {
    const network = await openNetwork(url);
    endings.push(() => network.close());
    const before = await workerIds().catch(() => new Set<string>());
    const store = await openPostgresStore({
      url: network.url,
      role: 'worker',
      isVolatile: true,
      liveness: given,
    });
    endings.push(() => store.close());
    const [own = ''] = [...(await workerIds())].filter((id) => !before.has(id));
    return { store, network, workerId: async () => own };
  };
  const client = await connectDirectly(url);
  endings.push(() => client.end());
  const workerIds = async (): Promise<ReadonlySet<string>> =>
    new Set((await client.query('SELECT id FROM workers')).rows.map(({ id }) => String(id)));
  const beatsSince = async (since: Date): Promise<number> =>
    (await client.query('SELECT id FROM workers WHERE seen_at > $1', [since])).rows.length;
  const now = async (): Promise<Date> =>
    (await client.query('SELECT clock_timestamp() AS now')).rows[0].now as Date;
  // For some time after a server starts, no process declares another process dead.
  const age = 'SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 AS ms';
  await expect
    .poll(async () => Number((await client.query(age)).rows[0].ms), { interval: 100 })
    .toBeGreaterThan(given.lifeMs);
  const [first, second] = [await join(), await join()];
  return { url, client, first, second, workerIds, beatsSince, now };
}

async function acceptInto(store: Store, lanes: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const lane of lanes) ids.push((await store.accept(makeDelivery({ route: { lane } }))).id);
  await store.route(ids.map((id, at) => ({ id, to: 'lane', lane: lanes[at] ?? '' })));
  return ids;
}

/** Claims one delivery as soon as one is available. */
async function claimOne(store: Store): Promise<Claim> {
  const claims: Claim[] = [];
  await expect
    .poll(async () => {
      const found = await store.claim({ limit: 1, leaseMs: 60_000 }).catch(() => []);
      claims.push(...found);
      return claims.length;
    })
    .toBe(1);
  const [claim] = claims;
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}

/** Resolves when the server has noticed that all processes without connections are gone. */
async function untilUnlocked(client: pg.Client): Promise<void> {
  const { schema } = (await client.query('SELECT current_schema() AS schema')).rows[0];
  await expect
    .poll(async () => {
      const { rows } = await client.query(
        `SELECT count(*) FROM pg_locks JOIN workers ON objid = workers.lock::bigint::oid
         WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1::bigint::oid`,
        [lockClassOf(schema)],
      );
      return Number(rows[0].count);
    })
    .toBe(0);
}

/** Resolves when all processes have been without a heartbeat for long enough to count as dead. */
async function untilSilent(client: pg.Client): Promise<void> {
  const lastBeat = 'SELECT extract(epoch FROM clock_timestamp() - max(seen_at)) * 1000 AS ms FROM workers';
  await expect
    .poll(async () => Number((await client.query(lastBeat)).rows[0].ms))
    .toBeGreaterThan(liveness.silentMs * 2);
}

const leaseLost = { code: 'lease-lost' };

describe('a process that the others have declared dead', () => {
  it('cannot end, extend or continue what another process has taken over', async () => {
    const { first, second } = await openPair();
    await acceptInto(first.store, ['1#1']);
    const old = await claimOne(first.store);

    first.network.set('cut');
    const current = await claimOne(second.store);
    first.network.set('pass');

    expect(current.id).toBe(old.id);
    const extend = (): Promise<unknown> =>
      first.store.heartbeat(old, 60_000).catch(({ code }: { code: unknown }) => code);
    await expect.poll(extend).toBe('lease-lost');
    await expect(first.store.settle(old, [])).rejects.toMatchObject(leaseLost);
    await expect(first.store.retry(old, { afterMs: 0, reason: 'again' })).rejects.toMatchObject(leaseLost);
    await expect(first.store.defer(old, [], { afterMs: 0, why: 'budget' })).rejects.toMatchObject(leaseLost);
    await expect(first.store.release(old)).rejects.toMatchObject(leaseLost);
    await expect(first.store.bury(old, 'given up')).rejects.toMatchObject(leaseLost);
    await expect(first.store.advance(old, { runs: [], checkpoint: 1 })).rejects.toMatchObject(leaseLost);
    await second.store.settle(current, []);
    expect(await second.store.describeDelivery(old.id)).toMatchObject({ state: 'settled', attempts: 2 });
  });

  it('claims under a new identity, and keeps its new claims', async () => {
    const { client, first, second, workerIds, beatsSince, now } = await openPair();
    const oldId = await first.workerId();
    first.network.set('cut');
    await expect.poll(async () => (await workerIds()).has(oldId)).toBe(false);
    await acceptInto(second.store, ['1#1']);

    first.network.set('pass');
    const claim = await claimOne(first.store);
    const claimedAt = await now();
    await expect.poll(() => beatsSince(claimedAt)).toBe(2);

    const { rows } = await client.query(
      "SELECT id FROM deliveries WHERE state = 'claimed' AND worker NOT IN (SELECT id FROM workers)",
    );
    expect(rows).toEqual([]);
    expect(await second.store.claim({ limit: 1, leaseMs: 60_000 })).toEqual([]);
    await first.store.settle(claim, []);
  });
});

describe('processes that were all cut off', () => {
  it("do not take over each other's claims while they return", async () => {
    const { client, first, second, workerIds, beatsSince, now } = await openPair();
    await acceptInto(first.store, ['1#1', '2#1']);
    const claims = [await claimOne(first.store), await claimOne(second.store)] as const;
    const ids = await workerIds();
    for (const { network } of [first, second]) network.set('cut');
    // The server has noticed that both processes are gone, and both have been silent for long enough to count as dead.
    await untilUnlocked(client);
    await untilSilent(client);

    for (const { network } of [first, second]) {
      network.set('pass');
      // Several heartbeats of the returned processes, while the others are still cut off.
      for (let beat = 1; beat <= 3; beat += 1) {
        const since = await now();
        await expect.poll(() => beatsSince(since)).toBeGreaterThan(0);
      }
    }

    expect(await workerIds()).toEqual(ids);
    await first.store.settle(claims[0], []);
    await second.store.settle(claims[1], []);
  });
});

describe('processes that were all suspended, for example with their machine', () => {
  it('do not take over the claims of a process that resumes later than the others', async () => {
    const given: Liveness = { beatMs: 50, silentMs: 300, lifeMs: 5_000 };
    const { first, second, workerIds, beatsSince, now } = await openPair(given);
    await acceptInto(first.store, ['1#1', '2#1']);
    const claims = [await claimOne(first.store), await claimOne(second.store)] as const;
    const ids = await workerIds();

    // Both stores run in this test process. The second is held, so that it returns after several heartbeats of the
    // first.
    second.network.set('hold');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, given.lifeMs + 500);
    for (let beat = 1; beat <= 3; beat += 1) {
      const since = await now();
      await expect.poll(() => beatsSince(since)).toBe(1);
    }
    second.network.set('pass');
    const since = await now();
    await expect.poll(() => beatsSince(since)).toBe(2);

    expect(await workerIds()).toEqual(ids);
    await first.store.settle(claims[0], []);
    await second.store.settle(claims[1], []);
  });
});

describe('a process that is suspended during a heartbeat', () => {
  /**
   * Opens two processes with one claim each. The first process starts a heartbeat that is answered only after both have
   * been silent for a long time.
   */
  const standStill = async (meanwhile: (client: pg.Client, id: string) => Promise<unknown>) => {
    const pair = await openPair();
    const { url, client, first, second, beatsSince, now } = pair;
    await acceptInto(first.store, ['1#1', '2#1']);
    const claims = [await claimOne(first.store), await claimOne(second.store)] as const;
    const holder = await connectDirectly(url);
    endings.push(() => holder.end());
    await holder.query('BEGIN');
    await holder.query('SELECT id FROM workers WHERE id = $1 FOR UPDATE', [await first.workerId()]);
    const { pid } = (await holder.query('SELECT pg_backend_pid() AS pid')).rows[0];
    const waiting = 'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
    await expect.poll(async () => (await client.query(waiting, [pid])).rows.length).toBe(1);
    second.network.set('cut');
    await untilSilent(client);
    await meanwhile(holder, await first.workerId());
    await holder.query('COMMIT');
    // The pending heartbeat, and two more.
    for (let beat = 1; beat <= 2; beat += 1) {
      const since = await now();
      await expect.poll(() => beatsSince(since)).toBe(1);
    }
    second.network.set('pass');
    const since = await now();
    await expect.poll(() => beatsSince(since)).toBe(2);
    return { ...pair, claims };
  };

  it('does not take over the claims of another process that resumes later', async () => {
    const { first, second, claims, workerIds } = await standStill(async () => {});

    expect(await workerIds()).toEqual(new Set([await first.workerId(), await second.workerId()]));
    await first.store.settle(claims[0], []);
    await second.store.settle(claims[1], []);
  });

  it('does not take over the claims of another process that resumes later, even if it was itself declared dead', async () => {
    const { first, second, claims, workerIds } = await standStill((client, id) =>
      client.query('DELETE FROM workers WHERE id = $1', [id]),
    );

    expect(await workerIds()).toContain(await second.workerId());
    await expect(first.store.settle(claims[0], [])).rejects.toMatchObject(leaseLost);
    await second.store.settle(claims[1], []);
  });
});

describe('a process that has just started', () => {
  it('does not take over the claims of a process that is returning', async () => {
    const given: Liveness = { beatMs: 50, silentMs: 60_000, lifeMs: 10_000 };
    const { url, client, first, second, workerIds } = await openPair(given);
    await acceptInto(second.store, ['1#1']);
    const claim = await claimOne(second.store);
    const id = await second.workerId();
    await first.store.close();
    second.network.set('cut');
    await untilUnlocked(client);
    await client.query(
      "UPDATE workers SET seen_at = now() - interval '1 hour', alive_until = now() - interval '1 hour' WHERE id = $1",
      [id],
    );

    // The store is open after its first heartbeat.
    const third = await openPostgresStore({ url, role: 'worker', isVolatile: true, liveness: given });
    endings.push(() => third.close());
    expect(await workerIds()).toContain(id);
    second.network.set('pass');
    const seenAgain = "SELECT id FROM workers WHERE id = $1 AND seen_at > now() - interval '1 minute'";
    await expect.poll(async () => (await client.query(seenAgain, [id])).rows.length).toBe(1);
    await second.store.settle(claim, []);
  });
});

describe('two processes that claim in one lane', () => {
  it("get one delivery, even if one process sees the state of the lane from before the other's claim", async () => {
    const { url, client, first, second } = await openPair();
    const [before = '', after = ''] = await acceptInto(first.store, ['1#1', '1#1']);
    // The earlier delivery is dead when the second process starts its claim, and returns to the lane before the claim
    // continues.
    await first.store.bury(await claimOne(first.store), 'given up');
    const locked = await connectDirectly(url);
    endings.push(() => locked.end());
    await locked.query('BEGIN');
    await locked.query('SELECT id FROM workers WHERE id = $1 FOR UPDATE', [await second.workerId()]);
    const claiming = second.store.claim({ limit: 1, leaseMs: 60_000 });
    const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%WITH heads%'";
    await expect.poll(async () => (await client.query(waits)).rows.length).toBeGreaterThan(0);
    await first.store.redrive([before], 'ada');
    await first.store.route([{ id: before, to: 'lane', lane: '1#1' }]);
    const claim = await claimOne(first.store);
    await locked.query('COMMIT');

    expect(claim.id).toBe(before);
    expect(await claiming).toEqual([]);
    await first.store.settle(claim, []);
    expect((await claimOne(second.store)).id).toBe(after);
  });
});
