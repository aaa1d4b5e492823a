import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/**
 * Returns rows of a store in a file, read directly from the database, so that the store's code does not verify itself.
 */
export function readRows(path: string, sql: string, ...values: SQLInputValue[]) {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(sql).all(...values);
  } finally {
    database.close();
  }
}

/** Returns the column `n` of the first row. */
export function readNumber(path: string, sql: string, ...values: SQLInputValue[]): number {
  return Number(readRows(path, sql, ...values)[0]?.n);
}
