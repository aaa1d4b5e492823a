import type { CopiedTable, CopyRow, StoreKind } from './copied-tables.ts';

/** Values of the primary key of a row. */
export type CopyKey = readonly (string | number)[];

/** Rows and bytes of one batch at most; the first row of a batch may be larger. */
export type BatchLimits = { readonly rows: number; readonly bytes: number };

export const standardBatch: BatchLimits = { rows: 2_000, bytes: 4 * 2 ** 20 };

/** How much of the content is read: of `bytes` columns the bytes, or their SHA-256. */
export type ReadMode = 'content' | 'digest';

/** A store that is read or written row by row, while no server uses it. */
export interface CopySide {
  readonly kind: StoreKind;
  /** Names the place in messages and marks, without a password. */
  readonly name: string;
  /** Returns the columns of every table, by name. */
  columns(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Returns the next rows in the order of the key, none at the end. */
  page(
    table: CopiedTable,
    options: { after?: CopyKey | undefined; mode: ReadMode },
  ): Promise<readonly CopyRow[]>;
  /** Returns the last number that the database has given; 0: none. */
  lastNumber(table: CopiedTable): Promise<number>;
  close(): Promise<void>;
}

/** A store that a copy is written to. */
export interface CopyTarget extends CopySide {
  /** Returns the mark as it was written, if there is one. */
  readMark(): Promise<string | undefined>;
  writeMark(mark: string): Promise<void>;
  isEmpty(table: CopiedTable): Promise<boolean>;
  /** Inserts rows and writes the mark, together. */
  write(table: CopiedTable, rows: readonly CopyRow[], mark: string): Promise<void>;
  /** Lets numbers begin after this one. */
  setLastNumber(table: CopiedTable, number: number): Promise<void>;
  /** Deletes all rows of the tables, and writes the mark, together. */
  clear(tables: readonly CopiedTable[], mark: string): Promise<void>;
  /** Waits until everything is on the disk, and prepares the store for its first use. */
  settleDown(): Promise<void>;
}

/** Returns the key of a row. */
export function copyKeyOf({ key }: CopiedTable, row: CopyRow): CopyKey {
  return key.map((column) => {
    const value = row[column];
    return typeof value === 'number' ? value : String(value);
  });
}
