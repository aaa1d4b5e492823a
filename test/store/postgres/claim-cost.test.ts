import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { isThorough } from '../../support/figure.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';

const waiting = 100_000;
const repositories = 1_000;
const rounds = 20;

/** Inserts deliveries in five lanes per repository. The tested statements do not depend on how rows were created. */
const fill = (from: number, to: number, routed = true): string => `
  INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn)
  SELECT 'webhook', n::text, 'push', 'default', 'application/json', now(), 'accepted', ${routed}, n, 2,
    n % ${repositories} || '#' || n % 5, (n % ${repositories})::text
  FROM generate_series(${from}, ${to}) AS n`;

// The read statistics of the server prove more than a plan, because they reflect what was executed with actual values.
const usage = `SELECT seq_scan, idx_scan, idx_tup_fetch FROM pg_stat_user_tables
  WHERE schemaname = current_schema AND relname = 'deliveries'`;
const usageOfIndex = `SELECT idx_scan, idx_tup_read, idx_blks_hit + idx_blks_read AS idx_blks
  FROM pg_stat_user_indexes JOIN pg_statio_user_indexes USING (relid, indexrelid, schemaname, relname, indexrelname)
  WHERE schemaname = current_schema AND indexrelname = 'waiting'`;

const connectionsOf = 'SELECT count(*)::integer AS open FROM pg_stat_activity WHERE application_name = $1';

/**
 * Number of claims after which the server keeps its plans. For the first five executions of a statement, it makes new
 * plans.
 */
const early = 10;

const vacuum = 'VACUUM ANALYZE deliveries, bodies, digests, workers';

type Case = {
  readonly analyze: string;
  readonly earlyAnalyze?: string;
  /** Whether the statements are planned before the other deliveries wait. */
  readonly isEarly?: boolean;
  /** Whether the other deliveries are already stored at that time, but without a lane. */
  readonly isStored?: boolean;
};

const cases: readonly (readonly [string, Case])[] = [
  ['without statistics', { analyze: 'SELECT 1' }],
  ['with statistics', { analyze: vacuum }],
  ['without statistics, with statements prepared on a small table', { analyze: 'SELECT 1', isEarly: true }],
  [
    'with statements and statistics of a small table',
    { earlyAnalyze: vacuum, analyze: 'SELECT 1', isEarly: true },
  ],
  [
    'with statements and statistics of a large table of which few wait',
    { earlyAnalyze: vacuum, analyze: 'SELECT 1', isEarly: true, isStored: true },
  ],
];

// The first case and the last two are the extremes.
it.each(isThorough ? cases : [...cases.slice(0, 1), ...cases.slice(-2)])(
  'claiming reads a few rows by index while 100,000 wait: %s',
  async (_name, { analyze, isEarly, isStored, earlyAnalyze = 'SELECT 1' }) => {
    const url = await makeSchema();
    // The name distinguishes the connections of this store from those of other tests.
    const name = `claim-cost ${randomBytes(8).toString('hex')}`;
    const named = `${url}&application_name=${encodeURIComponent(name)}`;
    const open = () => openPostgresStore({ url: named, role: 'worker', isVolatile: true });
    const first = await open();
    const client = await connectDirectly(url);
    try {
      // With autovacuum, the server would collect statistics at any time.
      await client.query('ALTER TABLE deliveries SET (autovacuum_enabled = off)');
      await client.query('ALTER TABLE bodies SET (autovacuum_enabled = off)');
      await client.query(fill(1, early));
      if (isStored) await client.query(fill(early + 1, early + waiting, false));
      await client.query("INSERT INTO bodies SELECT id, '{}' FROM deliveries");
      await client.query(earlyAnalyze);
      await claimAndSettle(first, early, 1);
      if (!isEarly) await first.close();
      if (isStored) await client.query('UPDATE deliveries SET routed = true WHERE NOT routed');
      else {
        await client.query(fill(early + 1, early + waiting));
        await client.query(`INSERT INTO bodies SELECT id, '{}' FROM deliveries WHERE state = 'accepted'`);
      }
      await client.query(analyze);
      // Flushes the statistics of this connection, so that its own reads are not counted later.
      await client.query('SELECT pg_stat_force_next_flush()');
      const scans = async (): Promise<unknown> => (await client.query(usage)).rows[0].idx_scan;
      const reported = await scans();
      // A connection reports at most once per second. The loop makes the first connection report its reads of the small
      // table.
      while (isEarly && (await scans()) === reported) await claimAndSettle(first, 1, 1);
      const before = (await client.query(usage)).rows[0];
      const indexBefore = (await client.query(usageOfIndex)).rows[0];
      const store = isEarly ? first : await open();
      await claimAndSettle(store, rounds, 8);
      // When a connection ends, it reports its reads table by table and index by index, and disappears only after that.
      expect((await client.query(connectionsOf, [name])).rows[0].open).toBeGreaterThan(0);
      await store.close();
      await expect.poll(async () => (await client.query(connectionsOf, [name])).rows[0].open).toBe(0);

      const after = (await client.query(usage)).rows[0];
      const index = (await client.query(usageOfIndex)).rows[0];
      const read = (member: string, from: Row, to: Row): number => Number(to[member]) - Number(from[member]);
      expect(read('seq_scan', before, after)).toBe(0);
      expect(read('idx_scan', indexBefore, index)).toBeGreaterThan(rounds);
      // Each claim reads the surrounding scans, the heads of eight lanes, and their bodies and ends.
      expect(read('idx_tup_read', indexBefore, index) / rounds).toBeLessThan(200);
      expect(read('idx_tup_fetch', before, after) / rounds).toBeLessThan(200);
      // Index blocks also count entries that are read but do not match. The index has 581 blocks.
      expect(read('idx_blks', indexBefore, index) / rounds).toBeLessThan(200);
    } finally {
      await client.end();
      await first.close();
    }
  },
);

type Row = Readonly<Record<string, unknown>>;

async function claimAndSettle(store: Store, times: number, limit: number): Promise<void> {
  for (let time = 1; time <= times; time += 1) {
    const claims = await store.claim({ limit, leaseMs: 60_000 });
    expect(claims).toHaveLength(limit);
    for (const claim of claims) await store.settle(claim, []);
  }
}
