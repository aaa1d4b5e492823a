import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import type { ReeveError } from '../errors.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

/** Where the store is: a file in the data folder, or, with a connection string, a PostgreSQL database. */
export type StorePlace = { readonly data: string; readonly databaseUrl?: string | undefined };

/**
 * Opens the store. A `worker` is alone: throws `store-locked` while another one uses the store. A `reader` stands beside it.
 * `onLost` is called when nothing can be stored any more, `onWork` when another process has stored work.
 */
export async function openStoreAt(
  place: StorePlace,
  options: {
    readonly role: 'worker' | 'reader';
    readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
    readonly onLost?: (error: ReeveError) => void;
    readonly onWork?: () => void;
  },
): Promise<Store> {
  const { role, clock, onLost, onWork } = options;
  if (place.databaseUrl === undefined) {
    const path = storeFileOf(place);
    return openSqliteStore({ path, role, ...(clock && { clock }), ...(onLost && { onLost }) });
  }
  // Loaded where it is used: most installations have no database server.
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  return openPostgresStore({
    url: place.databaseUrl,
    role,
    // All processes follow the clock of the server; one that is given is a test's.
    ...(clock && clock !== systemClock && { clock }),
    ...(onWork && { onWork }),
    isAlone: true,
  });
}

/** Returns the path of the file that holds the store of a data folder. */
export function storeFileOf({ data }: Pick<StorePlace, 'data'>): string {
  return join(data, 'reeve.db');
}
