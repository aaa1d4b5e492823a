import pg from 'pg';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { SqlRow } from '../sql.ts';
import { type PostgresAddress, silenceMs, withSettings } from './address.ts';

/** Rows of a statement, and the number of changed or returned rows. */
export type SqlResult = { readonly rows: readonly SqlRow[]; readonly count: number };

/** Executes statements, either in the pool or on the connection of a transaction. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<SqlResult>;
}

/** Maximum number of attempts of a statement that conflicts with others. */
const maxAttempts = 5;
/** Timeout for establishing a connection. */
const connectMs = 5_000;

const timestamptz = 1184;

/** Returns times as RFC 3339, as in the rows of every store. All other types use the parsers of `pg`. */
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
 * Marks a statement to be prepared once per connection, because the server takes longer to parse it than to run it.
 * Returns the statement unchanged. Not for texts that vary between calls, because a connection keeps every one of them.
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
    // Without this timeout, a query on a dead connection would wait indefinitely.
    query_timeout: silenceMs,
    keepAlive: true,
    application_name: 'reeve',
  };
}

/**
 * Connections to one database. A refusal by the server or the network becomes `store-unwritable`; later calls connect
 * again.
 */
export class Connections implements Queryable {
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
    // A connection that breaks while idle is replaced by the next call.
    this.#pool.on('error', () => {});
    // Without a handler, a connection that breaks between two statements would end the process. With it, the next
    // statement on the connection fails.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Runs a statement in a separate transaction. */
  query(text: string, values: readonly unknown[] = []): Promise<SqlResult> {
    return this.#attempt((client) => send(client, text, values));
  }

  /** Runs statements in one transaction. They may run more than once. */
  transaction<Result>(work: (sql: Queryable) => Promise<Result>): Promise<Result> {
    return this.#attempt(async (client) => {
      await send(client, 'BEGIN', []);
      try {
        const result = await work({ query: (text, values = []) => send(client, text, values) });
        await send(client, 'COMMIT', []);
        return result;
      } catch (error) {
        // A connection on which ROLLBACK fails is not used again, and the caller gets the first error.
        if (!isConnectionFailure(error)) await send(client, 'ROLLBACK', []).catch(() => {});
        throw error;
      }
    });
  }

  /** Waits for pending statements and closes the connections. */
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

/** SQLSTATE classes, and single states, of refusals that are temporary or specific to this server. */
const refusals: Readonly<Record<string, string>> = {
  '08': 'the connection failed',
  '25006': 'the server is read-only: it is a standby, or was demoted to one',
  '28': 'the server refuses the sign-in',
  '3D': 'there is no such database',
  '42501': 'the account may not do this',
  '53': 'the server lacks memory, space or connections',
  '55P03': 'a lock was not granted in time',
  '57': 'the server is stopping, starting, or ended the statement',
  '58': 'the disk of the server reports an error',
  XX: 'the database is damaged',
};

/** Messages of `pg` about a missing connection. These errors have no code. */
const unreachable =
  /timeout|Connection terminated|not queryable|connection error|after calling end|Cannot use a pool|ECONN|socket/i;

/** Returns whether the same statement may succeed if it is repeated at once, because it conflicted with another one. */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** Returns whether the statement exceeded its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Returns whether a unique index rejected the statement. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Returns whether the connection must not be used again, because it is broken or its server is read-only. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  return /^(08|57P|25006|XX)/.test(error.code ?? '');
}

/** Converts an error of the server or the connection to `store-unwritable` if the same call may succeed later. */
export function asStoreRefusal(error: unknown, name: string): unknown {
  if (error instanceof ReeveError || !(error instanceof Error)) return error;
  const reason = whyRefused(error);
  if (reason === undefined) return error;
  return new ReeveError('store-unwritable', `the store in ${name} refuses: ${reason} (${messageOf(error)})`, {
    cause: error,
    retryAfterMs: 5_000,
  });
}

function whyRefused(error: Error): string | undefined {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    return refusals[code] ?? refusals[code.slice(0, 2)];
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Connection errors for several addresses of one host are combined into one error without a message.
  const text = error instanceof AggregateError ? code : `${code} ${error.message}`;
  return unreachable.test(text) || /^E[A-Z]+$/.test(code) ? 'the server cannot be reached' : undefined;
}
