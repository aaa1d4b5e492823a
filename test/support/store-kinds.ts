import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { isThorough } from './figure.ts';
import { makeStore } from './make-store.ts';
import { makeSchema } from './postgres.ts';

/** Separate store of one kind. */
export type MadeStore = {
  readonly store: Store;
  /** Opens the same store again. */
  open(role: 'worker' | 'reader'): Promise<Store>;
  close(): Promise<void>;
};

type StoreKind = {
  readonly title: string;
  make(options: Pick<SqliteOptions, 'clock'>): Promise<MadeStore>;
};

const allKinds: readonly StoreKind[] = [
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

/**
 * Kinds of stores, for tests that must pass with each kind. `STORE_KINDS` restricts the tests to one kind:
 * `scripts/mutation/vitest.config.ts`.
 */
export const storeKinds = allKinds.filter(({ title }) => (process.env.STORE_KINDS ?? title) === title);

/**
 * Kinds of stores for tests of details. `npm test` runs these tests only with SQLite, because each PostgreSQL test
 * starts with a new schema.
 */
export const storeKindsOfDetails = storeKinds.filter(({ title }) => isThorough || title === 'SQLite');
