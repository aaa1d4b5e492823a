import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { acceptOne } from './deliveries.ts';
import { benchRow, type Measure, onStage, round } from './runner.ts';

/** Number of concurrent deliveries, as with this many connections. */
const lines = 64;
/** Number of deliveries between two looks at the size of the file. */
const lookEvery = 100;

/**
 * Measures the size of the write-ahead log under steady load: deliveries of 8 KB, 64 at a time, without a pause in
 * which the log could restart by itself. The size of the file is read repeatedly; the largest one counts.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder, defer }) => {
    const deliveries = quick ? 40_000 : 200_000;
    const path = join(folder, 'reeve.db');
    const store = await openSqliteStore({ path, role: 'worker' });
    defer(store.close);
    const sizes: number[] = [];
    await acceptSteadily(store, deliveries, () => sizes.push(statSync(`${path}-wal`).size));
    const { accepted } = await store.counts();
    if (accepted !== deliveries) throw new Error(`${deliveries} sent, ${accepted} stored`);
    return [
      benchRow({
        name: `write-ahead log while ${deliveries.toLocaleString('en')} deliveries of 8 KB are stored without a pause: largest size`,
        value: Math.max(...sizes) / 2 ** 20,
        unit: 'MiB',
        against: `at the end: ${round((sizes.at(-1) ?? 0) / 2 ** 20)} MiB`,
        target: '<= 64 MiB',
      }),
    ];
  });

async function acceptSteadily(store: Store, count: number, look: () => void): Promise<void> {
  const padding = 'x'.repeat(8_000);
  let begun = 0;
  const line = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await acceptOne(store, 'push', `{"after":"${randomUUID()}","padding":"${padding}"}`);
      if (begun % lookEvery === 0) look();
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
  look();
}
