import { existsSync } from 'node:fs';
import { type Client, createClient } from '../../client/client.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { Settings } from '../../server/settings/config.ts';
import { openStoreAt, type StorePlace, storeFileOf } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';

/**
 * Opens the store of REEVE_DATA or DATABASE_URL for a command. A `reader` may run beside a server; a `worker` needs
 * exclusive access, and throws `store-locked` if a server is running. A missing store is an error; it is not created.
 */
export async function openStore(settings: Settings, role: 'reader' | 'worker' = 'reader'): Promise<Store> {
  if (settings.databaseUrl === undefined) existingStorePath(settings);
  return openStoreAt(settings, role === 'reader' ? { role } : { role: 'all', isAlone: true });
}

/** Returns the path of the store file, which may be missing. Throws `usage` if the store is not a file. */
export function storePath(place: StorePlace): string {
  if (place.databaseUrl === undefined) return storeFileOf(place);
  throw new ReeveError(
    'usage',
    'the store is in PostgreSQL (DATABASE_URL): copy it with pg_dump, and put it back with pg_restore',
  );
}

/** Returns the path of the store file. Throws `usage` if it is missing. */
export function existingStorePath(settings: StorePlace): string {
  const path = storePath(settings);
  if (existsSync(path)) return path;
  throw new ReeveError('usage', `there is no store at ${path}: set REEVE_DATA to the folder of reeve serve`);
}

/** Opens the store like `openStore`; returns undefined if it is missing. */
export async function openStoreIfThere(settings: StorePlace): Promise<Store | undefined> {
  const isThere = settings.databaseUrl !== undefined || existsSync(storeFileOf(settings));
  return isThere ? openStoreAt(settings, { role: 'reader' }) : undefined;
}

/** Returns the client of the configured forge. Throws `usage` if no forge is configured. */
export function clientOf(settings: Settings): Client {
  if (settings.forge === undefined)
    throw new ReeveError('usage', 'this command needs the forge: set FORGE_URL and FORGE_TOKEN');
  const { url, credentials } = settings.forge;
  // A command acts as the account with which it began, so that it does not read the file of the token again.
  return createClient({ url, credentials });
}
