import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteAudit } from '../../src/store/pauses.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { type MadeStore, storeKindsOfDetails } from '../support/store-kinds.ts';
import { makeDelivery } from './make.ts';
import { makeContext } from './sqlite/make-context.ts';

describe.each(storeKindsOfDetails)('in $title', ({ make }) => {
  let made: MadeStore;
  let now: Date;
  beforeEach(async () => {
    now = new Date('2026-03-01T12:00:00.000Z');
    made = await make({ clock: { now: () => now, monotonicMs: () => now.getTime() } });
  });
  afterEach(() => made.close());
  const later = (ms: number): Date => {
    now = new Date(now.getTime() + ms);
    return now;
  };

  it('each pause holds until it is ended, and the audit log records who did what', async () => {
    const { store } = made;
    const start = now;
    const shop = { kind: 'repository', name: 'Acme/Shop', repositoryId: 7 } as const;
    const scopes = [shop, { kind: 'rule', name: 'Docs' }, { kind: 'all' }] as const;
    for (const scope of scopes) {
      expect(await store.pause(scope, 'ada')).toBe(true);
      later(1_000);
    }

    const again = [
      await store.pause({ kind: 'repository', name: 'acme/SHOP' }, 'bob'),
      await store.pause({ kind: 'all' }, 'bob'),
      await store.resume({ kind: 'rule', name: 'docs' }, 'bob'),
      await store.resume({ kind: 'repository', name: 'acme/web' }, 'bob'),
    ];

    expect(again).toEqual([false, false, false, false]);
    expect(await store.listPauses()).toEqual([
      { scope: { ...shop, name: 'acme/shop' }, at: start, by: 'ada' },
      { scope: { kind: 'rule', name: 'Docs' }, at: new Date(start.getTime() + 1_000), by: 'ada' },
      { scope: { kind: 'all' }, at: new Date(start.getTime() + 2_000), by: 'ada' },
    ]);
    expect(await store.resume({ kind: 'repository', name: 'ACME/shop' }, 'bob')).toBe(true);
    expect(await store.resume({ kind: 'all' }, 'bob')).toBe(true);
    expect(await store.pause({ kind: 'repository', name: 'acme/web' }, 'cy')).toBe(true);
    expect((await store.listPauses()).map(({ scope }) => scope)).toEqual([
      { kind: 'rule', name: 'Docs' },
      { kind: 'repository', name: 'acme/web' },
    ]);
    const audit = await store.listAudit();
    expect(audit.map(({ number, by, action, object }) => `${number} ${by}: ${action} ${object}`)).toEqual([
      '6 cy: pause repository acme/web',
      '5 bob: resume all writes',
      '4 bob: resume repository ACME/shop',
      '3 ada: pause all writes',
      '2 ada: pause rule Docs',
      '1 ada: pause repository Acme/Shop',
    ]);
    expect(audit.at(-1)?.at).toEqual(start);
  });

  it('the end of a pause wakes only the deliveries that it stopped', async () => {
    const { store } = made;
    const ids: string[] = [];
    for (const isPaused of [true, undefined]) {
      const { id } = await store.accept(makeDelivery({ receivedAt: now }));
      await store.route([{ id, to: 'lane', lane: `lane ${id}` }]);
      const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
      if (claim === undefined) throw new Error('nothing to claim');
      await store.defer(claim, [], { afterMs: 3_600_000, why: 'paused', ...(isPaused && { isPaused }) });
      ids.push(id);
    }
    await store.pause({ kind: 'all' }, 'ada');
    later(1_000);

    await store.resume({ kind: 'all' }, 'ada');

    const woken = await store.claim({ limit: 10, leaseMs: 60_000 });
    expect(woken.map(({ id }) => id)).toEqual(ids.slice(0, 1));
  });

  it('the audit log is listed newest first and page by page', async () => {
    const { store } = made;
    for (let count = 1; count <= 53; count += 1)
      await store.noteAudit({ by: 'ada', action: 'revert', object: `run ${count}` });
    const numbers = async (query?: Parameters<typeof store.listAudit>[0]): Promise<number[]> =>
      (await store.listAudit(query)).map(({ number }) => number);

    const all = await numbers({ limit: 1_000 });

    expect(all).toEqual(Array.from({ length: 53 }, (_, index) => 53 - index));
    expect(await numbers()).toEqual(all.slice(0, 50));
    expect(await numbers({ before: 3 })).toEqual([2, 1]);
    expect(await numbers({ before: 53, limit: 2 })).toEqual([52, 51]);
    expect(await store.listAudit({ limit: 1 })).toEqual([
      { number: 53, at: now, by: 'ada', action: 'revert', object: 'run 53' },
    ]);
    // Several entries at once, but few enough that even a busy server gives each a connection in time.
    for (let round = 0; round < 28; round += 1) {
      const more = Array.from(
        { length: 16 },
        () => ({ by: 'ada', action: 'revert', object: 'run' }) as const,
      );
      await Promise.all(more.map((entry) => store.noteAudit(entry)));
    }
    expect(await numbers({ limit: 1_000 })).toHaveLength(500);
  });
});

it('the audit log keeps its latest 10,000 entries', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, 'reeve.db');
  const insert = database.prepare(
    "INSERT INTO audit (number, at, by, action, object) VALUES (?, '', 'ada', 'pause', 'all writes')",
  );
  for (const number of [1, 2, 10_000]) insert.run(number);

  makeContext(database).sql.run(noteAudit({ by: 'ada', action: 'resume', object: 'all writes' }));

  const kept = database.prepare('SELECT number FROM audit ORDER BY number').all();
  expect(kept.map(({ number }) => number)).toEqual([2, 10_000, 10_001]);
  database.close();
});
