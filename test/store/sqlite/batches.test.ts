import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createQueries } from '../../../src/store/queries.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { createDeletions } from '../../../src/store/sqlite/retention.ts';
import type { DeliveryQuery } from '../../../src/store/store.ts';
import { makeContext } from './make-context.ts';

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  migrate(database, 'reeve.db');
});
afterEach(() => database.close());

/** Writes delivery rows. The ids start at `first` and are `apart` from each other. */
function fill(count: number, { state = 'settled', first = 1, apart = 1, repositoryId = 7 } = {}): void {
  database
    .prepare(
      `WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?)
       INSERT INTO deliveries (id, door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, repository_id)
       SELECT ? + n * ?, 'webhook', 'u' || n, 'push', 'e', 't', '2026-03-01T12:00:00.000Z', ?, 1, 0, 1, ? FROM n`,
    )
    .run(count, first, apart, state, repositoryId);
  database.exec("INSERT OR IGNORE INTO bodies (id, body) SELECT id, x'00' FROM deliveries");
}
const rows = (table: string): number =>
  Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);

describe('a filter that no index serves', () => {
  const walk = async (query: DeliveryQuery) => {
    const { listDeliveries } = createQueries(makeContext(database).sql);
    const pages: string[] = [];
    for (let before: string | undefined; pages.length < 9; ) {
      const { items, next } = await listDeliveries({ ...query, ...(before ? { before } : {}) });
      pages.push(`${items.map(({ id }) => id).join(' ')} > ${next ?? 'end'}`);
      if (next === undefined) return pages;
      before = next;
    }
    return pages;
  };
  // Writes rows with the ids 1, 60001 and 120001.
  beforeEach(() => fill(3, { apart: 60_000 }));

  it.each([
    [{ search: 'push' }],
    [{ repositoryId: 7 }],
    [{ door: 'webhook' as const }],
    [{ door: 'webhook' as const, state: 'settled' as const }],
    [{ search: 'PUSH', repositoryId: 7, state: 'settled' as const }],
  ])('%j examines 50,000 rows per page, and continues from there', async (query) => {
    expect(await walk(query)).toEqual(['120001 > 70002', '60001 > 20002', '1 > end']);
  });

  it.each([
    [{}, ['120001 60001 1 > end']],
    [{ search: '' }, ['120001 60001 1 > end']],
    [{ state: 'settled' as const }, ['120001 60001 1 > end']],
    [{ search: 'none' }, [' > 70002', ' > 20002', ' > end']],
    [
      { door: 'webhook' as const, limit: 1 },
      ['120001 > 120001', ' > 70001', '60001 > 60001', ' > 10001', '1 > 1', ' > end'],
    ],
  ])('%j is listed page by page', async (query, pages) => {
    expect(await walk(query)).toEqual(pages);
  });

  it('of a rare state examines all rows of that state', async () => {
    fill(3, { state: 'dead', first: 2, apart: 60_000 });

    expect(await walk({ state: 'dead', search: 'push' })).toEqual(['120002 60002 2 > end']);
  });
});

describe('old rows are deleted in batches', () => {
  const expiry = { settled: '~', dead: '~' };

  it('of 200 deliveries, with their bodies and runs, but never the newest delivery', async () => {
    fill(150);
    fill(100, { state: 'dead', first: 151 });
    database.exec(
      "INSERT INTO runs (id, delivery, started_at, run) SELECT 'r' || id, id, '2026', '{}' FROM deliveries",
    );
    const { deleteExpired } = createDeletions(makeContext(database));

    expect(await deleteExpired(expiry, 0)).toEqual({ settled: 150, dead: 50, runs: 200, next: 200 });
    expect(await deleteExpired(expiry, 200)).toEqual({ settled: 0, dead: 49, runs: 49, next: undefined });
    expect([rows('deliveries'), rows('bodies'), rows('runs')]).toEqual([1, 1, 1]);
  });

  it('that examine 2,000 rows', async () => {
    fill(2_500, { state: 'accepted' });
    const { deleteExpired } = createDeletions(makeContext(database));

    expect(await deleteExpired(expiry, 0)).toEqual({ settled: 0, dead: 0, runs: 0, next: 2_000 });
    expect(await deleteExpired(expiry, 2_000)).toEqual({ settled: 0, dead: 0, runs: 0, next: undefined });
  });

  it.each([
    [{ settled: '2026-03-01T12:00:00.001Z', dead: undefined }, 1, 0],
    [{ settled: '2026-03-01T12:00:00.000Z', dead: undefined }, 0, 0],
    [{ settled: undefined, dead: '2026-03-02' }, 0, 1],
    [{ settled: undefined, dead: undefined }, 0, 0],
  ])('that ended before %j', async (limits, settled, dead) => {
    fill(1);
    fill(1, { state: 'dead', first: 2 });
    fill(1, { state: 'accepted', first: 3 });
    fill(1, { state: 'accepted', first: 4 });

    expect(await createDeletions(makeContext(database)).deleteExpired(limits, 0)).toMatchObject({
      settled,
      dead,
    });
  });
});
