import { join } from 'node:path';
import { systemClock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import type { StoreClock } from './sql.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { ServerRole, Store, StoreListeners } from './store.ts';

/** Location of the store: a file in the data folder or, if there is a connection string, a PostgreSQL database. */
export type StorePlace = { readonly data: string; readonly databaseUrl?: string | undefined };

/**
 * Opens the store. A file is used by one process, apart from readers; throws `store-locked` while another process uses
 * it. A database is shared, unless `isAlone` is set. `onLost` is called when the store can no longer be written;
 * `onWork`, `onNotice` and `onTakeover` report the activity of other processes.
 */
export async function openStoreAt(
  place: StorePlace,
  options: StoreListeners & {
    readonly role: ServerRole | 'reader';
    readonly clock?: StoreClock;
    /**
     * For a command that accepts few deliveries or none. If set, `store-locked` is also thrown while another process
     * uses the database.
     */
    readonly isAlone?: boolean | undefined;
    readonly onLost?: (error: ReeveError) => void;
  },
): Promise<Store> {
  const { role, clock, onLost, isAlone = false, ...shared } = options;
  if (place.databaseUrl === undefined) {
    if (role === 'web')
      throw new ReeveError(
        'settings',
        'REEVE_ROLE web needs DATABASE_URL: a store in a file has one process',
      );
    const inFile = role === 'reader' ? 'reader' : 'worker';
    const path = storeFileOf(place);
    return openSqliteStore({
      path,
      role: inFile,
      checkpoints: isAlone ? 'in-commits' : 'in-thread',
      ...(clock && { clock }),
      ...(onLost && { onLost }),
    });
  }
  // Loaded lazily, because most installations have no database server.
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  const store = await openPostgresStore({
    ...shared,
    url: place.databaseUrl,
    role,
    // All processes use the clock of the server; a different one is passed only by tests.
    ...(clock && clock !== systemClock && { clock }),
  });
  if (isAlone) await requireNoOther(store);
  return store;
}

/** Closes the store and throws `store-locked` if another process uses it. */
async function requireNoOther(store: Store): Promise<void> {
  const other = (await store.listProcesses()).find(({ isSelf }) => !isSelf);
  if (other === undefined) return;
  await store.close();
  throw new ReeveError('store-locked', `the store is in use by another Reeve (${other.name}): stop it first`);
}

/** Returns the path of the file that holds the store of a data folder. */
export function storeFileOf({ data }: StorePlace): string {
  return join(data, 'reeve.db');
}
