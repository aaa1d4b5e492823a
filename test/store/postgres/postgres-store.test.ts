import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';
import { makeDelivery, makeRun } from '../make.ts';

let opened: Store[] = [];
afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
});

async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, role: 'worker', isVolatile: true, ...options });
  opened.push(store);
  return store;
}

/** Runs a statement directly in PostgreSQL, in the schema of an address. */
async function run(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = await connectDirectly(url);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('the PostgreSQL database', () => {
  it('is refused if the server does not sync', async () => {
    await expect(open(await makeSchema(), { isVolatile: false })).rejects.toMatchObject({
      code: 'settings',
      message: expect.stringContaining('fsync off'),
    });
  });

  it('is shared by any number of processes; a process with the role web accepts but claims nothing', async () => {
    const url = await makeSchema();
    const first = await open(url);
    const second = await open(url, { role: 'web' });
    const { id } = await second.accept(makeDelivery());

    expect(await first.describeDelivery(id)).toMatchObject({ id, state: 'accepted' });
    await expect(second.claim({ limit: 1, leaseMs: 60_000 })).rejects.toMatchObject({ code: 'internal' });
    expect((await first.listProcesses()).map(({ role, isSelf }) => [role, isSelf])).toEqual([
      ['worker', true],
      ['web', false],
    ]);
    await second.close();
    expect(await first.listProcesses()).toHaveLength(1);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'keeps the suspicion of a released delivery if its attempt had not begun: %s',
    async (isUnbegun, suspicion) => {
      const url = await makeSchema();
      const store = await open(url);
      const { id } = await store.accept(makeDelivery());
      await store.route([{ id, to: 'lane', lane: '1' }]);
      await run(url, 'UPDATE deliveries SET suspicion = 1');

      const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
      if (claim === undefined) throw new Error('nothing to claim');
      await store.release(claim, { isUnbegun });

      expect(await run(url, 'SELECT state, attempts, suspicion FROM deliveries')).toEqual([
        { state: 'accepted', attempts: 0, suspicion },
      ]);
    },
  );

  it('with the schema of a later version is used if that version permits it', async () => {
    const url = await makeSchema();
    await (await open(url)).close();

    await run(url, 'UPDATE schema_version SET version = 99, least_compatible = 1');
    await expect((await open(url)).healthy()).resolves.toMatchObject({ ok: true });
    await run(url, 'UPDATE schema_version SET version = 99, least_compatible = 98');
    await expect(open(url)).rejects.toMatchObject({ code: 'store-newer' });
  });

  it('that cannot be reached is named without the password', async () => {
    const password = randomBytes(12).toString('hex');
    const failure = await open(`postgres://ada:${password}@127.0.0.1:1/reeve`).catch(
      (error: unknown) => error,
    );

    expect(failure).toMatchObject({ code: 'store-unwritable' });
    expect(String(failure)).toContain('127.0.0.1:1');
    expect(JSON.stringify([String(failure), failure])).not.toContain(password);
  });

  it.each([
    'mysql://host/db',
    'postgres://host/db?schema=Two Words',
    'postgres://ada:a,b@one,two/db',
    'postgres://one:5432,two:5432/db',
    'postgres:///db?host=one,two',
  ])('is refused for the address %s', async (url) => {
    await expect(open(url)).rejects.toMatchObject({ code: 'settings' });
  });

  it('accepts texts that it cannot store unchanged, together with other deliveries', async () => {
    const store = await open(await makeSchema());
    const hostile = 'nul \0, half \ud800';
    const given = [
      makeDelivery({
        uuid: 'u'.repeat(10_000),
        route: { lane: `lane ${hostile}`, repository: hostile, repositoryId: 7 },
      }),
      makeDelivery(),
    ];

    const accepted = await Promise.all(given.map((one) => store.accept(one)));
    const known = await Promise.all(given.map((one) => store.accept(one)));
    const [first, second] = accepted;
    await store.route([
      { id: first?.id ?? '', to: 'lane', lane: `lane ${hostile}`, repository: hostile, repositoryId: 7 },
      { id: second?.id ?? '', to: 'lane', lane: 'x'.repeat(10_000) },
    ]);
    const claims = await store.claim({ limit: 5, leaseMs: 60_000 });
    for (const claim of claims)
      await store.settle(claim, [{ ...makeRun({}), code: hostile } as never], hostile);
    await store.remember(hostile, { hostile });

    expect(known.map(({ id, known }) => ({ id, known }))).toEqual(
      accepted.map(({ id }) => ({ id, known: true })),
    );
    expect(claims).toHaveLength(2);
    expect((await store.listRuns()).items).toMatchObject([{ code: hostile }, { code: hostile }]);
    expect(await store.recall(hostile)).toEqual({ hostile });
    expect(await store.counts()).toMatchObject({ settled: 2 });

    // Attempts that end together are settled together, but each independently.
    const lanes = ['1#1', '2#1', '3#1', '4#1'];
    const ids = (await Promise.all(lanes.map(() => store.accept(makeDelivery())))).map(({ id }) => id);
    await store.route(ids.map((id, at) => ({ id, to: 'lane', lane: lanes[at] ?? '' })));
    const [own, lost, poisoned, twice] = await store.claim({ limit: 4, leaseMs: 60_000 });
    if (!own || !lost || !poisoned || !twice) throw new Error('too few were claimed');
    const endsOf = async (settlements: readonly Promise<void>[]) =>
      (await Promise.allSettled(settlements)).map((end) =>
        end.status === 'rejected' ? end.reason.code : 'settled',
      );
    const runs = [makeRun({}), makeRun({}), makeRun({})];
    const again = { ...runs[2], ms: 2 } as never;
    expect(
      await endsOf([
        store.settle(own, runs),
        store.settle({ ...lost, lease: randomUUID() }, [makeRun({})]),
        store.settle(twice, [again]),
        store.settle(twice, []),
      ]),
    ).toEqual(['settled', 'lease-lost', 'settled', 'lease-lost']);
    expect((await store.listRuns({ limit: 3 })).items).toMatchObject([again, runs[1], runs[0]]);
    expect(
      await endsOf([store.settle({ ...poisoned, lease: 'no lease' }, []), store.settle(lost, [])]),
    ).toEqual(['22P02', 'settled']);
    expect(await store.counts()).toMatchObject({ claimed: 1, settled: 5 });
  });

  it('recognises the same uuid, and the same content, when two processes accept them at the same time', async () => {
    const url = await makeSchema();
    const stores = [await open(url), await open(url)];
    const same = Array.from({ length: 40 }, () => makeDelivery());
    const uuids = await Promise.all(same.flatMap((one) => stores.map((store) => store.accept(one))));
    expect(uuids.filter(({ known }) => !known)).toHaveLength(same.length);

    const contents = Array.from({ length: 40 }, (_, n) => Buffer.from(`{"content":${n}}`));
    const ids = await Promise.all(
      contents.flatMap((body) => stores.map((store) => store.accept(makeDelivery({ body })))),
    );
    const [store] = stores;
    if (store === undefined) throw new Error('no store');
    const waiting = await store.unrouted(1_000);
    await store.route(
      waiting.map(({ id, body }) => ({ id, to: 'lane', lane: Buffer.from(body).toString() })),
    );
    for (;;) {
      const claims = await store.claim({ limit: 8, leaseMs: 60_000 });
      for (const claim of claims) await store.settle(claim, []);
      if (claims.length === 0) break;
    }

    const stored = await Promise.all(ids.map(({ id }) => store.describeDelivery(id)));
    expect(stored.filter((one) => one?.copyOf === undefined)).toHaveLength(contents.length);
  });
});
