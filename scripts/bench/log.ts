import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type BenchRow, type Measure, round } from './row.ts';

/** Deliveries on their way at once, as from so many connections. */
const lines = 64;
const limitBytes = 64 * 2 ** 20;
/** How often the file is looked at, in deliveries. */
const lookEvery = 100;

/**
 * Size of the write-ahead log under steady load: deliveries of 8 KB over 64 lines, without a pause in which the log could
 * restart by itself. The file is looked at all the time; its largest size counts.
 */
export const measure: Measure = async ({ quick }) => {
  const deliveries = quick ? 40_000 : 200_000;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const path = join(folder, 'reeve.db');
  const store = await openSqliteStore({ path, role: 'worker' });
  try {
    const sizes: number[] = [];
    await acceptSteadily(store, deliveries, () => sizes.push(statSync(`${path}-wal`).size));
    const { accepted } = await store.counts();
    if (accepted !== deliveries) throw new Error(`${deliveries} sent, ${accepted} stored`);
    return [rowOf(deliveries, Math.max(...sizes), sizes.at(-1) ?? 0)];
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
};

function rowOf(deliveries: number, largest: number, last: number): BenchRow {
  const megabytes = (bytes: number): number => round(bytes / 2 ** 20);
  return {
    name: `write-ahead log while ${deliveries.toLocaleString('en')} deliveries of 8 KB are stored without a pause: largest size`,
    value: megabytes(largest),
    unit: 'MiB',
    against: `at the end: ${megabytes(last)} MiB`,
    ratio: null,
    target: '<= 64 MiB',
    ok: largest <= limitBytes,
  };
}

async function acceptSteadily(store: Store, count: number, look: () => void): Promise<void> {
  const padding = 'x'.repeat(8_000);
  let begun = 0;
  const line = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const uuid = randomUUID();
      await store.accept({
        uuid,
        eventType: 'push',
        entry: 'bench',
        contentType: 'application/json',
        receivedAt: new Date(),
        body: Buffer.from(`{"after":"${uuid}","padding":"${padding}"}`),
      });
      if (begun % lookEvery === 0) look();
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
  look();
}
