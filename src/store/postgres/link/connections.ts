import pg from 'pg';
import type { SqlRow } from '../../rows.ts';
import { type PostgresAddress, silenceMs, withSettings } from './address.ts';
import { asStoreRefusal, isConflict, isConnectionFailure } from './failures.ts';

/** The rows of a statement, and how many it changed or returned. */
export type SqlResult = { readonly rows: readonly SqlRow[]; readonly count: number };

/** Where statements are sent: the pool, or the connection of a transaction. */
export interface Sql {
  query(text: string, values?: readonly unknown[]): Promise<SqlResult>;
}

/** Attempts of a statement that loses against others. */
const maxAttempts = 5;
/** Until a connection is there. */
const connectMs = 5_000;

const timestamptz = 1184;

/** Times as RFC 3339, as the rows of every store have them. Everything else as `pg` reads it. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === timestamptz ? readTime : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function readTime(text: string): string {
  return text.endsWith('infinity')
    ? text
    : new Date(`${text.replace(' ', 'T').replace(/\+00$/, '')}Z`).toISOString();
}

/** Names of prepared statements, by their text. */
const preparedNames = new Map<string, string>();

/**
 * Marks a statement to be prepared once for each connection: reading it takes the server longer than running it. Returns it
 * unchanged. Not for texts that differ from call to call: a connection keeps every one.
 */
export function prepareOnce(text: string): string {
  if (!preparedNames.has(text)) preparedNames.set(text, `reeve_${preparedNames.size + 1}`);
  return text;
}

/** Returns the options of a connection. */
export function connectionOptions(
  address: PostgresAddress,
  settings?: Readonly<Record<string, string | number>>,
): pg.ClientConfig {
  return {
    connectionString: withSettings(address, settings),
    types,
    connectionTimeoutMillis: connectMs,
    // Without it, a query on a connection that leads nowhere waits for ever.
    query_timeout: silenceMs,
    keepAlive: true,
    application_name: 'reeve',
  };
}

/** Connections to one database. A refusal of the server or the network is `store-unwritable`; later calls connect again. */
export class Connections implements Sql {
  readonly #pool: pg.Pool;
  readonly #name: string;

  constructor(
    address: PostgresAddress,
    options: { readonly connections: number; readonly settings?: Readonly<Record<string, string | number>> },
  ) {
    this.#name = address.name;
    this.#pool = new pg.Pool({
      ...connectionOptions(address, options.settings),
      max: options.connections,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
    });
    // A connection that breaks while nothing uses it is replaced by the next call.
    this.#pool.on('error', () => {});
    // One that breaks between two statements would end the process; the next statement on it fails instead.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Runs a statement in a transaction of its own. */
  query(text: string, values: readonly unknown[] = []): Promise<SqlResult> {
    return this.#attempt((client) => send(client, text, values));
  }

  /** Runs statements in one transaction; they may run twice. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#attempt(async (client) => {
      await send(client, 'BEGIN', []);
      try {
        const result = await work({ query: (text, values = []) => send(client, text, values) });
        await send(client, 'COMMIT', []);
        return result;
      } catch (error) {
        // A connection that cannot do this is not used again: the first error is what the caller gets.
        if (!isConnectionFailure(error)) await send(client, 'ROLLBACK', []).catch(() => {});
        throw error;
      }
    });
  }

  /** Waits for what was begun, and closes the connections. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #attempt<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (attempt === maxAttempts || !isConflict(error)) throw asStoreRefusal(error, this.#name);
      }
    }
  }

  async #once<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let isBroken = true;
    try {
      const result = await work(client);
      isBroken = false;
      return result;
    } catch (error) {
      isBroken = isConnectionFailure(error);
      throw error;
    } finally {
      client.release(isBroken);
    }
  }
}

async function send(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<SqlResult> {
  const name = preparedNames.get(text);
  const { rows, rowCount } = await client.query({
    text,
    values: [...values],
    ...(name !== undefined && { name }),
  });
  return { rows, count: rowCount ?? 0 };
}
