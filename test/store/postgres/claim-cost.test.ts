import { expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';

const waiting = 100_000;
const repositories = 1_000;
const rounds = 20;

/** Each repository has five lanes. The statements do not depend on how rows came about. */
const fill = `
  INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn)
  SELECT 'webhook', n::text, 'push', 'default', 'application/json', now(), 'accepted', true, n, 2,
    n % ${repositories} || '#' || n % 5, (n % ${repositories})::text
  FROM generate_series(1, ${waiting}) AS n`;

// What the server has read says more than a plan: it is the plan that was run, with its values.
const usage = `SELECT seq_scan, idx_scan, idx_tup_fetch FROM pg_stat_user_tables
  WHERE schemaname = current_schema AND relname = 'deliveries'`;
const usageOfIndex = `SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes
  WHERE schemaname = current_schema AND indexrelname = 'waiting'`;

it.each([
  ['without statistics', 'SELECT 1'],
  ['with statistics', 'VACUUM ANALYZE deliveries, bodies'],
])('claiming reads a few rows by their indexes while 100,000 wait: %s', async (_name, analyze) => {
  const url = await makeSchema();
  await (await openPostgresStore({ url, role: 'worker', isVolatile: true })).close();
  const client = await connectDirectly(url);
  try {
    // Otherwise the server collects statistics on its own, at a time of its own.
    await client.query('ALTER TABLE deliveries SET (autovacuum_enabled = off)');
    await client.query('ALTER TABLE bodies SET (autovacuum_enabled = off)');
    await client.query(fill);
    await client.query("INSERT INTO bodies SELECT id, '{}' FROM deliveries");
    await client.query(analyze);
    // What this connection has read counts from here on, too.
    await client.query('SELECT pg_stat_force_next_flush()');
    const before = (await client.query(usage)).rows[0];
    const store = await openPostgresStore({ url, role: 'worker', isVolatile: true });
    for (let round = 1; round <= rounds; round += 1) {
      const claims = await store.claim({ limit: 8, leaseMs: 60_000 });
      expect(claims).toHaveLength(8);
      for (const claim of claims) await store.settle(claim, []);
    }
    // A connection reports what it has read when it ends.
    await store.close();
    await expect.poll(async () => (await client.query(usage)).rows[0].idx_scan).not.toBe(before.idx_scan);

    const after = (await client.query(usage)).rows[0];
    const index = (await client.query(usageOfIndex)).rows[0];
    expect(Number(after.seq_scan) - Number(before.seq_scan)).toBe(0);
    expect(Number(index.idx_scan)).toBeGreaterThan(rounds);
    // Of each claim: the looks around, the heads of eight lanes, their bodies and ends.
    expect(Number(index.idx_tup_read) / rounds).toBeLessThan(200);
    expect((Number(after.idx_tup_fetch) - Number(before.idx_tup_fetch)) / rounds).toBeLessThan(200);
  } finally {
    await client.end();
  }
});
