import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../store.ts';

/** Returns the methods of the store that keep plain data under keys. */
export function createMemoryMethods(
  database: DatabaseSync,
  {
    write,
    read,
  }: {
    readonly write: <Result>(work: () => Result) => Promise<Result>;
    readonly read: <Result>(ask: () => Result) => Result;
  },
): Pick<Store, 'remember' | 'recall'> {
  const put = database.prepare('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)');
  const drop = database.prepare('DELETE FROM memory WHERE key = ?');
  const get = database.prepare('SELECT value FROM memory WHERE key = ?');
  return {
    async remember(key, value) {
      const json = value === undefined ? undefined : JSON.stringify(value);
      await write(() => {
        if (json === undefined) drop.run(key);
        else put.run(key, json);
      });
    },
    async recall(key) {
      const row = read(() => get.get(key));
      return row === undefined ? undefined : JSON.parse(String(row.value));
    },
  };
}
