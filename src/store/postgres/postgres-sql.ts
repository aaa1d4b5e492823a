import { createHash } from 'node:crypto';
import type { Sql, SqlRow, SqlValue, SqlWords, Statement } from '../sql.ts';
import type { Connections, Queryable } from './connections.ts';

/** Maximum length of an indexed text, because at least three of them must fit on a page of the server. */
const maxKeyLength = 500;

/**
 * Returns a text that PostgreSQL can store. NUL, for which PostgreSQL rejects the whole statement, and lone surrogates
 * become U+FFFD.
 */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** Like `storableText`, for an optional text. */
export function storableOrNull(text: string | undefined | null): string | null {
  return text === undefined || text === null ? null : storableText(text);
}

/**
 * Returns a text that an indexed column can store. Long texts are shortened and end with their digest, because such a
 * column does not accept them.
 */
export function indexableText(text: string): string {
  const storable = storableText(text);
  if (storable.length <= maxKeyLength) return storable;
  const digest = createHash('sha256').update(storable).digest('hex');
  return `${storable.slice(0, maxKeyLength).toWellFormed()}… ${digest}`;
}

/**
 * Returns the SQL for the current instant: parameter `number`, or if that is null, the clock of the server, which all
 * processes share.
 */
export function nowSql(number: number): string {
  return `coalesce($${number}::timestamptz, date_trunc('milliseconds', statement_timestamp()))`;
}

const words: SqlWords = {
  deliveriesBy: () => 'deliveries',
  isRouted: 'routed',
  isUnrouted: 'NOT routed',
  door: 'door',
  find: 'strpos',
  // The server cannot read members of JSON in which a text has NUL or half a surrogate pair.
  namedDelivery: `substring(run from '"trigger":\\{[^{}]*"delivery":"([0-9]{1,15})"')::bigint`,
  // The server cannot parse JSON that may contain NUL.
  memoryDate: 'at',
  isAtRest: 'is_at_rest',
  missingColumns: new Set<string>(),
};

/** The statements that both databases share, in PostgreSQL. */
export class PostgresSql implements Sql {
  readonly words = words;
  readonly #database: Connections;
  readonly #at: () => string | null;

  /** `at` returns the instant for `nowSql`. */
  constructor(database: Connections, at: () => string | null) {
    this.#database = database;
    this.#at = at;
  }

  async all(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return (await this.#send(this.#database, { sql, values })).rows;
  }

  async get(sql: string, values: readonly SqlValue[] = []): Promise<SqlRow | undefined> {
    return (await this.all(sql, values))[0];
  }

  async batch(statements: readonly Statement[]): Promise<readonly number[]> {
    const [first] = statements;
    // A transaction takes two more statements.
    if (first !== undefined && statements.length === 1)
      return [(await this.#send(this.#database, first)).count];
    return this.#database.transaction((session) => this.run(session, statements));
  }

  /** Runs the statements of `batch` inside a transaction. */
  async run(session: Queryable, statements: readonly Statement[]): Promise<readonly number[]> {
    const counts: number[] = [];
    for (const statement of statements) {
      const { count } = await this.#send(session, statement);
      counts.push(count);
      if (statement.isGuard && count === 0) break;
    }
    return counts;
  }

  #send(session: Queryable, { sql, values }: Statement) {
    const parameters: unknown[] = [];
    const add = (value: unknown): string => `$${parameters.push(value)}`;
    let next = 0;
    const text = sql.replaceAll('?', () => {
      const value = values[next] ?? null;
      next += 1;
      if (typeof value === 'string') return add(storableText(value));
      if (typeof value !== 'object' || value === null) return add(value);
      if ('indexed' in value) return add(indexableText(value.indexed));
      const now = nowSql(parameters.push(this.#at()));
      return value.fromNowMs === 0 ? now : `${now} + ${add(value.fromNowMs)}::bigint * interval '1 ms'`;
    });
    return session.query(text, parameters);
  }
}
