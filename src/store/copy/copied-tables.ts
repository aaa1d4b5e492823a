import { createHash } from 'node:crypto';
import { ReeveError } from '../../platform/errors.ts';
import { memoryDateOf } from '../action-memory.ts';
import { indexableText, storableText } from '../postgres/postgres-sql.ts';
import { isAtRest } from '../queues.ts';
import type { SqlRow } from '../sql.ts';
import { markKey } from './copy-mark.ts';

export type StoreKind = 'sqlite' | 'postgres';

/**
 * Type of a column, which determines its conversion. `key`: an indexed text, which PostgreSQL stores shortened if it is
 * long.
 */
export type ColumnKind = 'integer' | 'boolean' | 'text' | 'key' | 'time' | 'bytes';

/** A copied value, which has the same form in every kind of store. Times are RFC 3339. */
export type CopyValue = null | number | boolean | string | Uint8Array;
export type CopyRow = Readonly<Record<string, CopyValue>>;

/** Column that one kind of store computes from other columns. */
type DerivedColumn = {
  readonly kind: ColumnKind;
  readonly compute: (row: CopyRow) => CopyValue;
};

/** A table that is copied. */
export type CopiedTable = {
  readonly name: string;
  /** Columns of the primary key, in order. Rows are copied in this order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Column with generated numbers. The next number is greater than all previous ones. */
  readonly numbered?: string;
  /** Columns that have their default value in the target. */
  readonly unset?: Partial<Record<StoreKind, readonly string[]>>;
  readonly derived?: Partial<Record<StoreKind, Readonly<Record<string, DerivedColumn>>>>;
  /** SQL of columns that are converted when they are copied. `sameProcess` compares `other` with `deliveries`. */
  readonly expressions?: (sameProcess: string) => Readonly<Record<string, string>>;
  /** SQL condition that selects the copied rows; default: all. */
  readonly only?: string;
};

/**
 * Releases claims: the process of a claim has ended, so the delivery waits again. As after any crash, the attempt of a
 * delivery that was handled alone counts; if there were several, each of them is suspected (`sqlite/claims.ts`,
 * `postgres/presence.ts`).
 */
function releaseClaims(sameProcess: string): Readonly<Record<string, string>> {
  const isClaimed = "state = 'claimed'";
  const together = `(SELECT count(*) FROM deliveries AS other WHERE other.state = 'claimed'${sameProcess})`;
  return {
    state: `CASE WHEN ${isClaimed} THEN 'accepted' ELSE state END`,
    crashes: `CASE WHEN ${isClaimed} AND ${together} = 1 THEN crashes + 1 ELSE crashes END`,
    suspicion: `CASE WHEN ${isClaimed} AND ${together} > 1 THEN suspicion + 1 ELSE suspicion END`,
    attempts: `CASE WHEN ${isClaimed} AND ${together} > 1 THEN attempts - 1 ELSE attempts END`,
  };
}

/** The tables in copy order. A row comes after the rows that it references. */
export const copiedTables: readonly CopiedTable[] = [
  {
    name: 'deliveries',
    key: ['id'],
    numbered: 'id',
    columns: {
      id: 'integer',
      door: 'text',
      uuid: 'key',
      event_type: 'text',
      entry: 'key',
      content_type: 'text',
      received_at: 'time',
      state: 'text',
      routed: 'boolean',
      mark: 'integer',
      bytes: 'integer',
      lane: 'key',
      turn: 'key',
      repository_id: 'integer',
      repository: 'text',
      attempts: 'integer',
      crashes: 'integer',
      suspicion: 'integer',
      failing_since: 'time',
      retry_at: 'time',
      retry_wait_ms: 'integer',
      deferral_key: 'text',
      paused: 'boolean',
      settled_at: 'time',
      reason: 'text',
      copy_of: 'integer',
      repeat_of: 'integer',
      checkpoint: 'text',
      redriven_at: 'time',
      redriven_by: 'text',
      header_set: 'integer',
      summary: 'text',
    },
    unset: { sqlite: ['lease'], postgres: ['lease', 'worker'] },
    expressions: releaseClaims,
  },
  {
    name: 'header_sets',
    key: ['id'],
    columns: { id: 'integer', headers: 'text', used_at: 'time' },
  },
  { name: 'bodies', key: ['id'], columns: { id: 'integer', body: 'bytes' } },
  { name: 'digests', key: ['delivery'], columns: { delivery: 'integer', digest: 'bytes' } },
  {
    name: 'runs',
    key: ['number'],
    numbered: 'number',
    columns: {
      number: 'integer',
      id: 'text',
      delivery: 'integer',
      repository_id: 'integer',
      started_at: 'text',
      run: 'text',
    },
  },
  {
    name: 'memory',
    key: ['key'],
    columns: { key: 'key', value: 'text' },
    derived: {
      postgres: {
        at: { kind: 'text', compute: ({ value }) => memoryDateOf(JSON.parse(String(value))) ?? null },
      },
    },
    only: `key <> '${markKey}'`,
  },
  {
    name: 'incidents',
    key: ['kind', 'key'],
    columns: {
      kind: 'text',
      key: 'key',
      count: 'integer',
      first_at: 'time',
      last_at: 'time',
      subject: 'key',
      details: 'text',
    },
  },
  {
    name: 'pauses',
    key: ['kind', 'name'],
    columns: { kind: 'text', name: 'key', repository_id: 'integer', at: 'time', by: 'text' },
  },
  {
    name: 'audit',
    key: ['number'],
    numbered: 'number',
    columns: { number: 'integer', at: 'time', by: 'text', action: 'text', object: 'text' },
  },
  {
    name: 'queues',
    key: ['repository_id', 'base'],
    columns: {
      repository_id: 'integer',
      base: 'text',
      repository: 'text',
      state: 'text',
      revision: 'integer',
      updated_at: 'time',
    },
    derived: {
      postgres: {
        is_at_rest: { kind: 'boolean', compute: ({ state }) => isAtRest(JSON.parse(String(state))) },
      },
    },
  },
  {
    name: 'queue_history',
    key: ['id'],
    numbered: 'id',
    columns: {
      id: 'integer',
      repository_id: 'integer',
      base: 'text',
      repository: 'text',
      at: 'time',
      event: 'text',
    },
  },
  {
    name: 'samples',
    key: ['minutes', 'at', 'name'],
    columns: { minutes: 'integer', at: 'integer', name: 'key', amount: 'integer' },
  },
  {
    name: 'rule_texts',
    key: ['place', 'path'],
    columns: {
      place: 'key',
      path: 'key',
      commit_id: 'text',
      at: 'time',
      size: 'integer',
      content: 'text',
    },
  },
];

/** Tables that are not copied, with the reason. */
export const omittedTables: Readonly<Record<string, string>> = {
  queue_leases: 'a lease belongs to a process, and no process is running',
  workers: 'the running processes',
  leader: 'the leader among the processes',
  sessions: 'users sign in again',
  schema_version: 'the target has its own',
};

/** Returns a row of a database in the form shared by both kinds of store. */
export function copyRowOf(table: CopiedTable, row: SqlRow): CopyRow {
  const values = Object.entries(table.columns).map(([column, kind]) => [
    column,
    copyValueOf(row[column] ?? null, kind, `${table.name}.${column}`),
  ]);
  return withOriginalUuid(table, Object.fromEntries(values));
}

function copyValueOf(value: SqlRow[string] | null, kind: ColumnKind, where: string): CopyValue {
  if (value === null) return null;
  if (kind === 'bytes') {
    if (value instanceof Uint8Array) return value;
  } else if (kind === 'boolean') return Boolean(value);
  else if (kind === 'integer') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
  } else if (typeof value === 'string') return value;
  throw new ReeveError('internal', `${where} contains a value that cannot be copied`);
}

/**
 * Returns a row in a form that the other kind of store supports. PostgreSQL stores neither NUL nor long indexed texts;
 * the result equals what a PostgreSQL store would have written.
 */
export function convertRow(
  table: CopiedTable,
  row: CopyRow,
  { from, to }: { readonly from: StoreKind; readonly to: StoreKind },
): CopyRow {
  if (from === to || to === 'sqlite') return row;
  const values = Object.entries(table.columns).map(([column, kind]) => {
    const value = row[column] ?? null;
    if (typeof value !== 'string') return [column, value];
    return [column, kind === 'key' ? indexableText(value) : storableText(value)];
  });
  return Object.fromEntries(values);
}

/**
 * Returns a unique uuid for a delivery whose uuid another one already has. A file may contain both, because
 * earlier versions recognised a uuid only among the newest deliveries; in PostgreSQL a uuid is unique.
 */
export function distinctUuid({ uuid, id }: CopyRow): string {
  return `${uuid}${suffixOf(id)}`;
}

function withOriginalUuid(table: CopiedTable, row: CopyRow): CopyRow {
  if (table.name !== 'deliveries' || typeof row.uuid !== 'string') return row;
  const suffix = suffixOf(row.id);
  return row.uuid.endsWith(suffix) ? { ...row, uuid: row.uuid.slice(0, -suffix.length) } : row;
}

function suffixOf(id: CopyValue | undefined): string {
  return ` (delivery ${id})`;
}

const modulus = 2n ** 256n;

/**
 * Number and digest of rows, independent of their order: the sum of the SHA-256 of each row. `bytes` columns contain
 * SHA-256 digests.
 */
export class RowDigest {
  #count = 0;
  #sum = 0n;

  add(table: CopiedTable, rows: readonly CopyRow[]): void {
    const columns = Object.keys(table.columns);
    for (const row of rows) {
      const values = columns.map((column) => {
        const value = row[column] ?? null;
        return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
      });
      const digest = createHash('sha256').update(JSON.stringify(values)).digest('hex');
      this.#sum = (this.#sum + BigInt(`0x${digest}`)) % modulus;
    }
    this.#count += rows.length;
  }

  get count(): number {
    return this.#count;
  }

  get hex(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}
