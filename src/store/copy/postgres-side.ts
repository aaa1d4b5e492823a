import pg from 'pg';
import { ReeveError } from '../../platform/errors.ts';
import { type PostgresAddress, readAddress } from '../postgres/address.ts';
import { asStoreRefusal, Connections, connectionOptions } from '../postgres/connections.ts';
import { migratePostgres } from '../postgres/migrations.ts';
import { storableText } from '../postgres/postgres-sql.ts';
import { takeCopyLock } from '../postgres/presence.ts';
import type { SqlRow } from '../sql.ts';
import {
  type ColumnKind,
  type CopiedTable,
  type CopyRow,
  type CopyValue,
  copyRowOf,
  distinctUuid,
} from './copied-tables.ts';
import { markKey } from './copy-mark.ts';
import {
  type BatchLimits,
  type CopySide,
  type CopyTarget,
  type PageQuery,
  standardBatch,
} from './copy-store.ts';

/** Timeout of a statement. A batch takes longer than other statements, and may wait for a slow disk. */
const statementMs = 300_000;

/**
 * Opens a schema to copy from, as a snapshot. A schema of an earlier version is upgraded, as when the server starts.
 * Throws `usage` if there is no store, and `store-locked` while a server uses it.
 */
export async function openPostgresSource(
  url: string,
  limits: BatchLimits = standardBatch,
): Promise<CopySide> {
  const address = readAddress(url);
  return open(address, limits, async (client) => {
    const { rows } = await client.query("SELECT to_regclass('schema_version') IS NOT NULL AS is_there");
    if (rows[0]?.is_there !== true) throw new ReeveError('usage', `there is no store in ${address.name}`);
    await upgrade(address);
    await takeCopyLock(client, address);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  });
}

/** Opens a schema to copy to, and creates it if it does not exist. Throws `store-locked` while a server uses it. */
export async function openPostgresTarget(
  url: string,
  limits: BatchLimits = standardBatch,
): Promise<CopyTarget> {
  const address = readAddress(url);
  return open(address, limits, async (client) => {
    await upgrade(address);
    await takeCopyLock(client, address);
  });
}

async function open(
  address: PostgresAddress,
  limits: BatchLimits,
  prepare: (client: pg.Client) => Promise<void>,
): Promise<PostgresSide> {
  const settings = { statement_timeout: statementMs, idle_in_transaction_session_timeout: 0 };
  const client = new pg.Client({
    ...connectionOptions(address, settings),
    query_timeout: statementMs + 10_000,
  });
  // The next statement fails and reports the error.
  client.on('error', () => {});
  try {
    await client.connect();
    await prepare(client);
    return new PostgresSide(client, address, limits);
  } catch (error) {
    await client.end().catch(() => {});
    throw asStoreRefusal(error, address.name);
  }
}

async function upgrade(address: PostgresAddress): Promise<void> {
  const database = new Connections(address, { connections: 1 });
  try {
    await migratePostgres(address, database);
  } finally {
    await database.close();
  }
}

class PostgresSide implements CopyTarget {
  readonly kind = 'postgres';
  readonly name: string;
  readonly #client: pg.Client;
  readonly #schema: string;
  readonly #limits: BatchLimits;

  constructor(client: pg.Client, { name, schema }: PostgresAddress, limits: BatchLimits) {
    this.#client = client;
    this.name = name;
    this.#schema = schema;
    this.#limits = limits;
  }

  async columns(): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#query(
      `SELECT table_name, array_to_string(array_agg(column_name::text), ',') AS columns FROM information_schema.columns
       WHERE table_schema = $1 GROUP BY table_name`,
      [this.#schema],
    );
    return new Map(rows.map((row) => [String(row.table_name), String(row.columns).split(',')]));
  }

  async page(table: CopiedTable, { after = [], mode }: PageQuery): Promise<readonly CopyRow[]> {
    const key = table.key.join(', ');
    const kinds = Object.entries(table.columns);
    const expressions = table.expressions?.(' AND other.worker IS NOT DISTINCT FROM deliveries.worker') ?? {};
    const columns = kinds.map(([name, kind]) => {
      if (kind === 'bytes' && mode === 'digest') return `sha256(${name}) AS ${name}`;
      return expressions[name] === undefined ? name : `${expressions[name]} AS ${name}`;
    });
    const sizes = kinds
      .filter(([, kind]) => kind === 'text' || (kind === 'bytes' && mode === 'content'))
      .map(([name]) => `coalesce(octet_length(${name}), 0)`);
    const conditions = [
      table.only ?? 'true',
      ...(after.length === 0 ? [] : [`(${key}) > (${after.map((_, index) => `$${index + 3}`).join(', ')})`]),
    ];
    // The sizes determine the batch, and can be read without the contents.
    const rows = await this.#query(
      `SELECT * FROM (
         SELECT *, sum(copy_size) OVER (ORDER BY ${key} ROWS UNBOUNDED PRECEDING) - copy_size AS copy_before FROM (
           SELECT ${columns.join(', ')}, ${sizes.join(' + ') || '0'} AS copy_size FROM ${table.name}
           WHERE ${conditions.join(' AND ')} ORDER BY ${key} LIMIT $1
         ) AS page
       ) AS weighed WHERE copy_before < $2::bigint ORDER BY ${key}`,
      [this.#limits.rows, this.#limits.bytes, ...after],
    );
    return rows.map((row) => copyRowOf(table, row));
  }

  async lastNumber({ name, numbered = '' }: CopiedTable): Promise<number> {
    const [row] = await this.#query(`SELECT coalesce(max(${numbered}), 0) AS number FROM ${name}`);
    const [counter] = await this.#query(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM ${await this.#sequenceOf(name, numbered)}`,
    );
    return Math.max(Number(row?.number), Number(counter?.number));
  }

  async setLastNumber({ name, numbered = '' }: CopiedTable, number: number): Promise<void> {
    await this.#query('SELECT setval($1, greatest($2::bigint, 1), $2::bigint > 0)', [
      await this.#sequenceOf(name, numbered),
      number,
    ]);
  }

  async isEmpty({ name, only = 'true' }: CopiedTable): Promise<boolean> {
    return (await this.#query(`SELECT FROM ${name} WHERE ${only} LIMIT 1`)).length === 0;
  }

  async readMark(): Promise<string | undefined> {
    const [row] = await this.#query('SELECT value FROM memory WHERE key = $1', [markKey]);
    return row === undefined ? undefined : String(row.value);
  }

  async writeMark(mark: string): Promise<void> {
    await this.#query(putMark, [markKey, mark]);
  }

  async write(table: CopiedTable, rows: readonly CopyRow[], mark: string): Promise<void> {
    await this.#transaction(async () => {
      const stored = await this.#insert(table, rows);
      const others = rows.filter(({ id }) => !stored.has(String(id)));
      if (stored.size < rows.length && table.name === 'deliveries') {
        const renamed = others.map((row) => ({ ...row, uuid: distinctUuid(row) }));
        for (const id of await this.#insert(table, renamed)) stored.add(id);
      }
      if (stored.size < rows.length)
        throw new ReeveError(
          'internal',
          `${this.name}: two rows of ${table.name} have the same key, so nothing of this batch was copied`,
        );
      await this.#query(putMark, [markKey, storableText(mark)]);
    });
  }

  async clear(tables: readonly CopiedTable[], mark: string): Promise<void> {
    await this.#transaction(async () => {
      await this.#query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
      await this.#query(putMark, [markKey, mark]);
    });
  }

  async settleDown(): Promise<void> {
    // The first query plans use these statistics.
    await this.#query('ANALYZE');
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }

  /** Inserts rows, and returns the keys of the rows that violated no unique index. */
  async #insert(table: CopiedTable, rows: readonly CopyRow[]): Promise<Set<string>> {
    const derived = Object.entries(table.derived?.postgres ?? {});
    const columns: (readonly [name: string, kind: ColumnKind, values: readonly CopyValue[]])[] = [
      ...Object.entries(table.columns).map(
        ([name, kind]) => [name, kind, rows.map((row) => row[name] ?? null)] as const,
      ),
      ...derived.map(
        ([name, { kind, compute }]) => [name, kind, rows.map((row) => storableValue(compute(row)))] as const,
      ),
    ];
    const values: unknown[] = [];
    const given = columns.map(([name, kind, column]) => parameterOf(name, kind, column, values));
    const names = columns.map(([name]) => name).join(', ');
    const [first = ''] = table.key;
    const inserted = await this.#query(
      `INSERT INTO ${table.name} (${names}) SELECT ${given.map(({ select }) => select).join(', ')}
       FROM ROWS FROM (${given.flatMap(({ from }) => from).join(', ')}) WITH ORDINALITY
         AS given (${given.flatMap(({ names: those }) => those).join(', ')}, copy_position)
       ORDER BY copy_position ON CONFLICT DO NOTHING RETURNING ${table.key.join(', ')}`,
      values,
    );
    if (table.key.length === 1) return new Set(inserted.map((row) => String(row[first])));
    return new Set(inserted.map((row) => table.key.map((column) => row[column]).join('\0')));
  }

  async #sequenceOf(table: string, column: string): Promise<string> {
    const [row] = await this.#query('SELECT pg_get_serial_sequence($1, $2) AS name', [table, column]);
    return String(row?.name);
  }

  async #transaction(work: () => Promise<void>): Promise<void> {
    await this.#query('BEGIN');
    try {
      await work();
      await this.#query('COMMIT');
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async #query(text: string, values: readonly unknown[] = []): Promise<readonly SqlRow[]> {
    try {
      return (await this.#client.query(text, [...values])).rows;
    } catch (error) {
      throw asStoreRefusal(error, this.name);
    }
  }
}

const putMark =
  'INSERT INTO memory (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value';

const arrayTypes: Readonly<Record<Exclude<ColumnKind, 'bytes'>, string>> = {
  integer: 'bigint',
  boolean: 'boolean',
  text: 'text',
  key: 'text',
  time: 'timestamptz',
};

/** Returns the parameter of a column, whose values are appended to `values`. */
function parameterOf(
  name: string,
  kind: ColumnKind,
  column: readonly CopyValue[],
  values: unknown[],
): { readonly select: string; readonly from: readonly string[]; readonly names: readonly string[] } {
  const next = (value: unknown): string => `$${values.push(value)}`;
  if (kind !== 'bytes')
    return {
      select: `given.${name}`,
      from: [`unnest(${next(column)}::${arrayTypes[kind]}[])`],
      names: [name],
    };
  // One buffer for all contents, because an array of buffers would be encoded in hexadecimal.
  const contents = column.map((value) => (value instanceof Uint8Array ? value : new Uint8Array()));
  const lengths = contents.map(({ length }) => length);
  let end = 0;
  const begins = lengths.map((length) => {
    end += length;
    return end - length + 1;
  });
  const all = next(Buffer.concat(contents));
  return {
    select: `substring(${all}::bytea FROM given.${name}_begins FOR given.${name}_length)`,
    from: [`unnest(${next(begins)}::integer[])`, `unnest(${next(lengths)}::integer[])`],
    names: [`${name}_begins`, `${name}_length`],
  };
}

function storableValue(value: CopyValue): CopyValue {
  return typeof value === 'string' ? storableText(value) : value;
}
