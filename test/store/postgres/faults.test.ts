import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type Network, openNetwork } from '../../../scripts/harness/network.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Claim, NewDelivery, Store } from '../../../src/store/store.ts';
import { makeSchema } from '../../support/postgres.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { makeDelivery } from '../make.ts';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const unwritable = { code: 'store-unwritable' };
/** A silent connection is given up sooner than in production, but later than the response time of a busy machine. */
const queryTimeoutMs = 2_000;

async function startServer(settings: readonly string[]): Promise<PostgresServer> {
  // An immediate shutdown does not lose what the operating system has buffered, so the server need not sync.
  const server = await startPostgres(['fsync=off', ...settings]);
  endings.push(server.stop);
  return server;
}

/** Opens a store behind a separate network. The tables are created beforehand, without the short timeout. */
async function openBehind(url: string): Promise<{ store: Store; network: Network }> {
  await (await open(url)).close();
  const network = await openNetwork(`${url}&query_timeout=${queryTimeoutMs}`);
  endings.push(network.close);
  return { store: await open(network.url), network };
}

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, role: 'worker', isVolatile: true });
  endings.push(() => store.close());
  return store;
}

async function acceptInto(store: Store, lane: string): Promise<string> {
  const { id } = await insist(() => store.accept(makeDelivery({ route: { lane } })));
  await insist(() => store.route([{ id, to: 'lane', lane }]));
  return id;
}

async function claimAll(store: Store): Promise<readonly Claim[]> {
  return insist(() => store.claim({ limit: 8, leaseMs: 600_000 }));
}

/** Repeats a call until the store accepts it. */
async function insist<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      expect(error).toMatchObject(unwritable);
      await pause(20);
    }
  }
}

/** Starts senders that store deliveries one after another and remember which were acknowledged. */
function startLoad(store: Store) {
  const acknowledged: string[] = [];
  let isGoing = true;
  const lines = Array.from({ length: 8 }, async () => {
    while (isGoing) {
      const delivery: NewDelivery = makeDelivery();
      await insist(() => store.accept(delivery));
      acknowledged.push(delivery.uuid);
    }
  });
  return {
    acknowledged,
    async reach(count: number): Promise<void> {
      const from = acknowledged.length;
      await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(from + count);
    },
    async stop(): Promise<void> {
      isGoing = false;
      await Promise.all(lines);
    },
  };
}

/** Returns the uuids that are missing in the database, queried without the store. */
async function missingIn(url: string, uuids: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT uuid FROM reeve.deliveries JOIN reeve.bodies USING (id)');
    const stored = new Set(rows.map(({ uuid }) => uuid));
    return uuids.filter((uuid) => !stored.has(uuid));
  } finally {
    await client.end();
  }
}

describe('a network that drops everything sent', () => {
  it('makes every call reject until the network works again', { timeout: 120_000 }, async () => {
    const { store, network } = await openBehind(await makeSchema());
    await acceptInto(store, '1#1');
    const [claim] = await claimAll(store);
    if (claim === undefined) throw new Error('nothing was claimed');
    const waiting = makeDelivery();

    network.set('swallow');
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      accept: () => store.accept(waiting),
      enqueue: () =>
        store.enqueue({
          door: 'cron',
          uuid: 'job',
          kind: 'sweep',
          lane: 'sweep',
          receivedAt: new Date(),
          payload: 1,
        }),
      unrouted: () => store.unrouted(10),
      route: () => store.route([{ id: claim.id, to: 'dead', reason: 'malformed' }]),
      claim: () => store.claim({ limit: 1, leaseMs: 60_000 }),
      settle: () => store.settle(claim, []),
      counts: () => store.counts(),
      recall: () => store.recall('key'),
      remember: () => store.remember('key', 1),
      raise: () => store.raise([{ kind: 'rule-failed', key: 'a', at: new Date(), reason: 'no' } as never]),
      saveQueue: () =>
        store.saveQueue({ repositoryId: 1, base: 'main', repository: 'a/b', state: {}, revision: 0 }),
    };
    const answers = await Promise.all(
      Object.entries(calls).map(async ([name, call]) => {
        const code = await call().then(
          () => 'answered',
          (error: { code: unknown }) => error.code,
        );
        return [name, code];
      }),
    );
    expect(answers).toEqual(Object.keys(calls).map((name) => [name, 'store-unwritable']));
    expect(await store.healthy()).toMatchObject({ ok: false });

    network.set('pass');
    expect(await insist(() => store.accept(waiting))).toMatchObject({ known: false });
    await insist(() => store.settle(claim, []));
    expect(await store.healthy()).toMatchObject({ ok: true });
    expect(await store.describeDelivery(claim.id)).toMatchObject({ state: 'settled', attempts: 1 });
  });

  it('that loses responses causes no call to take effect twice or get lost', {
    timeout: 120_000,
  }, async () => {
    const { store, network } = await openBehind(await makeSchema());
    await acceptInto(store, '1#1');
    await acceptInto(store, '1#2');
    const [ended] = await store.claim({ limit: 1, leaseMs: 600_000 });
    if (ended === undefined) throw new Error('nothing was claimed');
    const delivery = makeDelivery();
    // Each of the calls below finds an open connection.
    await Promise.all(Array.from({ length: 4 }, () => store.counts()));

    network.set('mute');
    const calls = [
      store.accept(delivery),
      store.settle(ended, []),
      store.claim({ limit: 8, leaseMs: 600_000 }),
    ];
    for (const { status, ...result } of await Promise.allSettled(calls))
      expect({ status, ...result }).toMatchObject({ status: 'rejected', reason: unwritable });
    network.set('pass');

    expect(await insist(() => store.accept(delivery))).toMatchObject({ known: true });
    await insist(() => store.settle(ended, []));
    await expect
      .poll(async () => (await claimAll(store)).map(({ attempts }) => attempts), { interval: 200 })
      .toEqual([1]);
  });
});

describe('a server with an immediate shutdown under load', () => {
  it('loses no acknowledged delivery, and no attempt', { timeout: 240_000 }, async () => {
    const server = await startServer([]);
    const first = await open(server.url);
    const second = await open(server.url);
    await acceptInto(first, '1#1');
    await acceptInto(second, '2#1');
    const [own] = await first.claim({ limit: 1, leaseMs: 600_000 });
    const [others] = await second.claim({ limit: 1, leaseMs: 600_000 });
    if (own === undefined || others === undefined) throw new Error('nothing was claimed');
    const load = startLoad(first);
    await load.reach(50);

    for (let restart = 1; restart <= 3; restart += 1) {
      await server.restart();
      await load.reach(50);
    }
    await load.stop();

    expect(await missingIn(server.url, load.acknowledged)).toEqual([]);
    await first.settle(own, []);
    await second.settle(others, []);
    expect(await first.describeDelivery(own.id)).toMatchObject({ state: 'settled', attempts: 1 });
    expect(await first.describeDelivery(others.id)).toMatchObject({ state: 'settled', attempts: 1 });
  });
});

describe('a claim made just before an immediate shutdown of the server', () => {
  it('is not given to another process', { timeout: 240_000 }, async () => {
    const server = await startServer([]);
    const first = await open(server.url);
    const second = await open(server.url);
    for (let restart = 1; restart <= 3; restart += 1) {
      await acceptInto(first, `${restart}#1`);
      const [claim] = await first.claim({ limit: 1, leaseMs: 600_000 });
      if (claim === undefined) throw new Error('nothing was claimed');
      // No other commit has made the server flush its log since the claim.
      await server.restart();

      expect(await claimAll(second)).toEqual([]);
      await insist(() => first.settle(claim, []));
    }
  });
});

describe('a synchronous standby', () => {
  const rounds = process.env.LONG ? 10 : 1;

  it('that is promoted under load contains everything that was acknowledged', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const server = await startServer(['--standby']);
      const { store, network } = await openBehind(server.url);
      const id = await acceptInto(store, '1#1');
      const [claim] = await claimAll(store);
      if (claim === undefined) throw new Error('nothing was claimed');
      const load = startLoad(store);
      await load.reach(200);

      await server.kill();
      // The database name points to the standby before the promotion, so the standby does not accept writes yet.
      network.lead(server.standbyUrl);
      await expect
        .poll(() => store.remember('key', 1).catch((error: Error) => error.message), { interval: 50 })
        .toContain('the server is read-only: it is a standby, or was demoted to one');
      const before = load.acknowledged.length;
      await server.promote();
      await load.reach(200);
      await load.stop();

      expect(before).toBeGreaterThan(200);
      expect(await missingIn(server.standbyUrl, load.acknowledged)).toEqual([]);
      await insist(() => store.settle(claim, []));
      expect(await store.describeDelivery(id)).toMatchObject({ state: 'settled', attempts: 1 });
    }
  });

  it('that is not promoted is refused with the reason', async () => {
    const server = await startServer(['--standby']);
    await (await open(server.url)).close();

    await expect(open(server.standbyUrl)).rejects.toMatchObject({
      ...unwritable,
      message: expect.stringContaining('the server is read-only: it is a standby'),
    });
  });
});
