import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { isThorough, recordFigure } from '../../support/figure.ts';
import { makeDelivery } from '../make.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pathOf = (name: string): string => join(folder, name, 'reeve.db');

/**
 * Accepts deliveries of 16 KB with 32 concurrent calls, and returns the largest value that `look` returned meanwhile.
 */
async function acceptSteadily(store: Store, count: number, look: () => number): Promise<number> {
  let [begun, largest] = [0, 0];
  const line = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await store.accept(makeDelivery({ body: randomBytes(16_000) }));
      largest = Math.max(largest, look());
    }
  };
  await Promise.all(Array.from({ length: 32 }, line));
  return largest;
}

describe('the write-ahead log', () => {
  const open = (name: string) => openSqliteStore({ path: pathOf(name), role: 'worker' });

  // The next test asserts the same limit after a reader has let the log grow.
  it.runIf(isThorough)('stays below 64 MiB under steady writing', async (context) => {
    const store = await open('log');
    const log = `${pathOf('log')}-wal`;

    const largest = await acceptSteadily(store, 10_000, () => statSync(log).size);

    expect(largest).toBeGreaterThan(2 ** 20);
    expect(largest).toBeLessThanOrEqual(64 * 2 ** 20);
    await store.close();
    recordFigure(
      context,
      `write-ahead log: at most ${(largest / 2 ** 20).toFixed(1)} MiB in 10,000 deliveries`,
    );
  });

  it('shrinks again after a reader that prevented it from restarting', async () => {
    const store = await open('pinned');
    const log = `${pathOf('pinned')}-wal`;
    await store.accept(makeDelivery());
    const reader = new DatabaseSync(pathOf('pinned'), { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM deliveries').get();
    const pinned = await acceptSteadily(store, 6_000, () => statSync(log).size);
    reader.exec('COMMIT');
    reader.close();

    await acceptSteadily(store, 3_000, () => statSync(log).size);

    expect(pinned).toBeGreaterThan(64 * 2 ** 20);
    expect(statSync(log).size).toBeLessThanOrEqual(64 * 2 ** 20);
    await store.close();
  });
});
