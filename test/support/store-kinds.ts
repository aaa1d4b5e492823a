import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeStore } from './make-store.ts';
import { makeSchema } from './postgres.ts';

/** A store of its own, of any kind. */
export type MadeStore = {
  readonly store: Store;
  /** Opens the same store again. */
  open(role: 'worker' | 'reader'): Promise<Store>;
  close(): Promise<void>;
};

/** The kinds of stores, for tests that every kind has to pass. */
export const storeKinds: readonly {
  readonly title: string;
  make(options: Pick<SqliteOptions, 'clock'>): Promise<MadeStore>;
}[] = [
  {
    title: 'SQLite',
    async make(options) {
      const { store, path, close } = await makeStore(options);
      return { store, open: (role) => openSqliteStore({ path, role, ...options }), close };
    },
  },
  {
    title: 'PostgreSQL',
    async make(options) {
      const url = await makeSchema();
      const open = (role: 'worker' | 'reader') =>
        openPostgresStore({ url, role, isVolatile: true, ...options });
      const store = await open('worker');
      return { store, open, close: () => store.close() };
    },
  },
];
