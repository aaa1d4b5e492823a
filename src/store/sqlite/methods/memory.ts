import type { DatabaseSync } from 'node:sqlite';
import { indexableText } from '../../postgres/link/text.ts';
import type { Store } from '../../store.ts';

/**
 * Returns the methods of the store that keep plain data under keys. A key that PostgreSQL does not hold as it is may be here in the form
 * that it has there: `reeve store copy` brought it.
 */
export function createMemoryMethods(
  database: DatabaseSync,
  {
    write,
    read,
  }: {
    readonly write: <Result>(work: () => Result) => Promise<Result>;
    readonly read: <Result>(ask: () => Result) => Result;
  },
): Pick<Store, 'remember' | 'recall' | 'revise'> {
  const put = database.prepare('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)');
  const drop = database.prepare('DELETE FROM memory WHERE key = ?');
  const get = database.prepare('SELECT value FROM memory WHERE key = ?');
  const set = (key: string, value: unknown): void => {
    const json = value === undefined ? undefined : JSON.stringify(value);
    const other = indexableText(key);
    if (other !== key) drop.run(other);
    if (json === undefined) drop.run(key);
    else put.run(key, json);
  };
  const find = (key: string): unknown => {
    const other = indexableText(key);
    const row = get.get(key) ?? (other === key ? undefined : get.get(other));
    return row === undefined ? undefined : JSON.parse(String(row.value));
  };
  return {
    async remember(key, value) {
      await write(() => set(key, value));
    },
    async recall(key) {
      return read(() => find(key));
    },
    async revise(key, edit) {
      // Most edits change nothing, which needs no place among the writes.
      const seen = read(() => find(key));
      if (edit(seen) === seen) return seen;
      return write(() => {
        const before = find(key);
        const after = edit(before);
        if (after !== before) set(key, after);
        return after;
      });
    },
  };
}
