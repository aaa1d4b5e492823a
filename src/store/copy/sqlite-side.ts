import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';
import { createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import type { SqlRow } from '../sql.ts';
import { requireStore } from '../sqlite/backup.ts';
import { asStoreError } from '../sqlite/failures.ts';
import { takeWorkerLock, type WorkerLock } from '../sqlite/lock.ts';
import { migrate } from '../sqlite/migrations.ts';
import { openSqliteFile } from '../sqlite/sqlite-store.ts';
import { type CopiedTable, type CopyRow, type CopyValue, copyRowOf } from './copied-tables.ts';
import { markKey } from './copy-mark.ts';
import {
  type BatchLimits,
  type CopySide,
  type CopyTarget,
  type PageQuery,
  standardBatch,
} from './copy-store.ts';

/**
 * Opens a file to copy from, as a snapshot. A file of an earlier version is upgraded, as when the server starts. Throws
 * `usage` if there is no store, and `store-locked` while a server uses it.
 */
export function openSqliteSource(path: string, limits: BatchLimits = standardBatch): CopySide {
  if (!existsSync(path)) throw new ReeveError('usage', `there is no store at ${path}`);
  return open(path, (database, lock) => {
    requireStore(database, path);
    migrate(database, path);
    database.exec('BEGIN');
    // The snapshot begins with the first read.
    database.prepare('SELECT count(*) FROM pauses').get();
    return new SqliteSide({ database, lock, path, limits });
  });
}

/** Opens a file to copy to, and creates it if it does not exist. Throws `store-locked` while a server uses it. */
export function openSqliteTarget(path: string, limits: BatchLimits = standardBatch): CopyTarget {
  createPrivateFolder(dirname(path), { holds: basename(path) });
  return open(path, (database, lock) => {
    migrate(database, path);
    // The copy will soon be the only instance of this data, so each batch is synced when it is committed.
    database.exec('PRAGMA synchronous = FULL');
    return new SqliteSide({ database, lock, path, limits });
  });
}

function open(path: string, make: (database: DatabaseSync, lock: WorkerLock) => SqliteSide): SqliteSide {
  let lock: WorkerLock | undefined;
  let database: DatabaseSync | undefined;
  try {
    lock = takeWorkerLock(path);
    createPrivateFile(path);
    database = openSqliteFile({ path });
    return make(database, lock);
  } catch (error) {
    database?.close();
    lock?.release();
    throw asStoreError(error, path);
  }
}

class SqliteSide implements CopyTarget {
  readonly kind = 'sqlite';
  readonly name: string;
  readonly #database: DatabaseSync;
  readonly #lock: WorkerLock;
  readonly #path: string;
  readonly #limits: BatchLimits;

  constructor(options: {
    readonly database: DatabaseSync;
    readonly lock: WorkerLock;
    readonly path: string;
    readonly limits: BatchLimits;
  }) {
    this.#database = options.database;
    this.#lock = options.lock;
    this.#path = options.path;
    this.#limits = options.limits;
    this.name = `SQLite ${options.path}`;
  }

  async columns(): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = this.#all(
      `SELECT tables.name AS "table", columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    );
    const schema = new Map<string, string[]>();
    for (const { table, name } of rows) {
      const columns = schema.get(String(table));
      if (columns === undefined) schema.set(String(table), [String(name)]);
      else columns.push(String(name));
    }
    return schema;
  }

  async page(table: CopiedTable, { after, mode }: PageQuery): Promise<readonly CopyRow[]> {
    const key = table.key.join(', ');
    const conditions = [
      ...(table.only === undefined ? [] : [table.only]),
      ...(after === undefined ? [] : [`(${key}) > (${after.map(() => '?').join(', ')})`]),
    ];
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const expressions = table.expressions?.('') ?? {};
    const columns = Object.keys(table.columns).map((name) =>
      expressions[name] === undefined ? name : `${expressions[name]} AS ${name}`,
    );
    const rows: CopyRow[] = [];
    let bytes = 0;
    this.#guard(() => {
      const statement = this.#database.prepare(
        `SELECT ${columns.join(', ')} FROM ${table.name} ${where} ORDER BY ${key} LIMIT ${this.#limits.rows}`,
      );
      for (const found of statement.iterate(...(after ?? [])) as Iterable<SqlRow>) {
        bytes += sizeOf(found);
        rows.push(copyRowOf(table, mode === 'digest' ? digested(found) : found));
        if (bytes >= this.#limits.bytes) break;
      }
    });
    return rows;
  }

  async lastNumber({ name, numbered }: CopiedTable): Promise<number> {
    const [row] = this.#all(`SELECT max(${numbered}) AS number FROM ${name}`);
    const [counter] = this.#isCounted(name)
      ? this.#all('SELECT seq FROM sqlite_sequence WHERE name = ?', name)
      : [];
    return Math.max(Number(row?.number ?? 0), Number(counter?.seq ?? 0));
  }

  async setLastNumber({ name }: CopiedTable, number: number): Promise<void> {
    // Other tables continue after their highest number.
    if (!this.#isCounted(name)) return;
    this.#transaction(() => {
      this.#database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
      this.#database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, number);
    });
  }

  async isEmpty({ name, only = 'true' }: CopiedTable): Promise<boolean> {
    return this.#all(`SELECT 1 FROM ${name} WHERE ${only} LIMIT 1`).length === 0;
  }

  async readMark(): Promise<string | undefined> {
    const [row] = this.#all('SELECT value FROM memory WHERE key = ?', markKey);
    return row === undefined ? undefined : String(row.value);
  }

  async writeMark(mark: string): Promise<void> {
    this.#transaction(() => this.#putMark(mark));
  }

  async write(table: CopiedTable, rows: readonly CopyRow[], mark: string): Promise<void> {
    const columns = Object.keys(table.columns);
    const derived = Object.entries(table.derived?.sqlite ?? {});
    const names = [...columns, ...derived.map(([name]) => name)];
    this.#transaction(() => {
      const insert = this.#database.prepare(
        `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      );
      for (const row of rows) {
        const values = [
          ...columns.map((column) => row[column] ?? null),
          ...derived.map(([, { compute }]) => compute(row)),
        ];
        insert.run(...values.map(sqliteValueOf));
      }
      this.#putMark(mark);
    });
  }

  async clear(tables: readonly CopiedTable[], mark: string): Promise<void> {
    this.#transaction(() => {
      for (const { name } of tables.toReversed()) this.#database.exec(`DELETE FROM ${name}`);
      this.#putMark(mark);
    });
  }

  async settleDown(): Promise<void> {
    this.#guard(() => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    this.#database.close();
    this.#lock.release();
  }

  #putMark(mark: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)').run(markKey, mark);
  }

  /** Returns whether the numbers of a table are never reused, even after all rows have been deleted. */
  #isCounted(table: string): boolean {
    const [row] = this.#all("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", table);
    return String(row?.sql).includes('AUTOINCREMENT');
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly SqlRow[] {
    return this.#guard(() => this.#database.prepare(sql).all(...values) as readonly SqlRow[]);
  }

  #transaction(work: () => void): void {
    this.#guard(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      try {
        work();
        this.#database.exec('COMMIT');
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, this.#path);
    }
  }
}

function sizeOf(row: SqlRow): number {
  let size = 0;
  for (const value of Object.values(row)) {
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
  }
  return size;
}

function digested(row: SqlRow): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? createHash('sha256').update(value).digest() : value,
    ]),
  );
}

function sqliteValueOf(value: CopyValue): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value;
}
