import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/**
 * Returns whether this Node binds numbered parameters (`?1`) by position. Node 22 takes them for names and answers "column
 * index out of range".
 */
export function bindsNumbersByPosition(sqlite: DatabaseSync): boolean {
  try {
    sqlite.prepare('SELECT ?1').get(1);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a statement numbers its parameters. Throws when it numbers only some of them. */
export function isNumbered(sql: string): boolean {
  const numbered = /\?\d/.test(sql);
  if (numbered && /\?(?!\d)/.test(sql)) throw new TypeError(`only some parameters have a number: ${sql}`);
  return numbered;
}

/** Returns the arguments that bind numbered parameters by their names, which every Node does. */
export function byNumber(values: readonly SQLInputValue[]): readonly SQLInputValue[] {
  const named = Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]));
  // `all`, `get` and `run` take an object of names in the place of their first value; the type of a value has no word for it.
  return [named as unknown as SQLInputValue];
}
