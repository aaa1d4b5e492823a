import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '../client/client.ts';
import { ReeveError } from '../errors.ts';
import type { Settings } from '../settings/config.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';

/**
 * Opens the store of REEVE_DATA for a command. As `reader` it stands beside a running server; as `worker` it is alone,
 * and throws `store-locked` where a server runs. A store that is not there is a mistake, not a new one.
 */
export async function openStore(settings: Settings, role: 'reader' | 'worker' = 'reader'): Promise<Store> {
  const path = storePath(settings);
  if (!existsSync(path)) {
    throw new ReeveError(
      'usage',
      `there is no store at ${path}: set REEVE_DATA to the folder of reeve serve`,
    );
  }
  return openSqliteStore({ path, role });
}

function storePath({ data }: Pick<Settings, 'data'>): string {
  return join(data, 'reeve.db');
}

/** Opens the store as `openStore` does; undefined if there is none. */
export async function openStoreIfThere(settings: Pick<Settings, 'data'>): Promise<Store | undefined> {
  return existsSync(storePath(settings))
    ? openSqliteStore({ path: storePath(settings), role: 'reader' })
    : undefined;
}

/** Returns the client of the configured forge. Throws `usage` where none is configured. */
export function clientOf(settings: Settings): Client {
  if (settings.forge === undefined)
    throw new ReeveError('usage', 'this asks the forge: set FORGE_URL and FORGE_TOKEN');
  return createClient({ ...settings.forge });
}
