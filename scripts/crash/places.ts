import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { startPostgres } from '../../test/support/postgres-server.ts';
import type { StoreKind } from './servers.ts';

/** Where the servers keep their deliveries. Looks with the database alone: the store's own code must not be what vouches for it. */
interface Place {
  readonly address: string;
  /** Servers that use it at the same time. */
  readonly serverCount: number;
  /**
   * Counts those that are missing. `earlier` is how many rows were there before at least: they need not be read again. With a
   * file, no server may be running.
   */
  look(
    uuids: readonly string[],
    earlier: number,
  ): Promise<{ missing: number; isIntact: boolean; settled: ReadonlySet<string> }>;
  close(): Promise<void>;
}

/** Creates an empty place. */
export async function openPlace(store: StoreKind, folder: string): Promise<Place> {
  return store === 'postgres' ? await openPostgresPlace() : openSqlitePlace(join(folder, 'reeve.db'));
}

function openSqlitePlace(path: string): Place {
  return {
    address: path,
    serverCount: 1,
    async look(uuids, earlier) {
      const database = new DatabaseSync(path);
      try {
        const rows = database.prepare(
          'SELECT uuid, state FROM deliveries JOIN bodies USING (id) LIMIT -1 OFFSET ?',
        );
        const stored = new Map<unknown, unknown>();
        for (const row of rows.iterate(earlier)) stored.set(row.uuid, row.state);
        const check = database.prepare('PRAGMA integrity_check').get();
        return { ...compare(uuids, stored), isIntact: check?.integrity_check === 'ok' };
      } finally {
        database.close();
      }
    },
    async close() {},
  };
}

/** A server of its own, which syncs. */
async function openPostgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    address: server.url,
    serverCount: 3,
    async look(uuids) {
      const { rows } = await client.query(
        `SELECT uuid, state, count(*) OVER (PARTITION BY uuid) AS rows
         FROM reeve.deliveries JOIN reeve.bodies USING (id) WHERE uuid = ANY ($1)`,
        [uuids],
      );
      const stored = new Map<unknown, unknown>(rows.map(({ uuid, state }) => [uuid, state]));
      return { ...compare(uuids, stored), isIntact: rows.every((row) => Number(row.rows) === 1) };
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}

function compare(uuids: readonly string[], stored: ReadonlyMap<unknown, unknown>) {
  return {
    missing: uuids.filter((uuid) => !stored.has(uuid)).length,
    settled: new Set(uuids.filter((uuid) => stored.get(uuid) === 'settled')),
  };
}
