import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

/** Opens a separate store in a temporary folder, which `close` removes. */
export async function makeStore(
  options: Pick<SqliteOptions, 'clock'> = {},
): Promise<{ store: Store; path: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-store-'));
  const path = join(folder, 'reeve.db');
  const store = await openSqliteStore({ path, role: 'worker', ...options });
  return {
    store,
    path,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
