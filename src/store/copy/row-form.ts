import { createHash } from 'node:crypto';
import { ReeveError } from '../../platform/errors.ts';
import { indexableText, storableText } from '../postgres/link/text.ts';
import type { SqlRow } from '../rows.ts';
import type { ColumnKind, CopiedTable, CopyRow, CopyValue, StoreKind } from './copied-tables.ts';

/** Returns a row of a database in the form that both kinds of store share. */
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
  throw new ReeveError('internal', `${where} holds a value that cannot be copied`);
}

/**
 * Returns a row as the other kind of store can hold it: PostgreSQL holds no NUL and no long text in an index, and keeps what its
 * store would have kept.
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
 * Returns the uuid of a delivery whose uuid another one has already. A file may hold both, because repeats are recognised there
 * among the newest deliveries only; in PostgreSQL a uuid is unique.
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

/** Number and digest of rows, in any order: the sum of the SHA-256 of each row. `bytes` columns hold SHA-256 digests. */
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
