import { systemClock } from '../../platform/clock.ts';
import { memoryDateOf } from '../action-memory.ts';
import type { Store } from '../store.ts';
import type { PostgresContext } from './context.ts';
import type { Sql } from './link/connections.ts';
import { indexableText, storableOrNull } from './link/text.ts';

/** Returns the methods that keep plain data under keys. */
export function createPostgresMemory({
  database,
}: Pick<PostgresContext, 'database'>): Pick<Store, 'remember' | 'recall' | 'revise'> {
  const read = async (key: string): Promise<string | undefined> => {
    const { rows } = await database.query('SELECT value FROM memory WHERE key = $1', [indexableText(key)]);
    return rows[0] === undefined ? undefined : String(rows[0].value);
  };
  return {
    async remember(key, value) {
      const json = value === undefined ? undefined : JSON.stringify(value);
      if (json === undefined) {
        await database.query('DELETE FROM memory WHERE key = $1', [indexableText(key)]);
        return;
      }
      await database.query(
        `INSERT INTO memory (key, value, at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
        [
          indexableText(key),
          json,
          // The server does not look into JSON that may hold NUL.
          storableOrNull(memoryDateOf(value)),
        ],
      );
    },
    async recall(key) {
      const json = await read(key);
      return json === undefined ? undefined : JSON.parse(json);
    },
    async revise(key, edit) {
      for (let attempt = 1; ; attempt += 1) {
        const json = await read(key);
        const before: unknown = json === undefined ? undefined : JSON.parse(json);
        const after = edit(before);
        if (after === before || (await replace(database, key, json, after))) return after;
        // Another process was faster.
        await systemClock.sleep(Math.random() * Math.min(attempt * 5, 200));
      }
    },
  };
}

/** Replaces a value if it is still the one that was read; returns whether it was. */
async function replace(
  database: Sql,
  key: string,
  before: string | undefined,
  value: unknown,
): Promise<boolean> {
  const json = value === undefined ? undefined : JSON.stringify(value);
  const given = [indexableText(key), json ?? null, storableOrNull(memoryDateOf(value))];
  if (before === undefined && json === undefined) return true;
  if (before === undefined) return (await database.query(insertNew, given)).count === 1;
  const { count } =
    json === undefined
      ? await database.query('DELETE FROM memory WHERE key = $1 AND value = $2', [given[0], before])
      : await database.query(updateSame, [...given, before]);
  return count === 1;
}

const insertNew = 'INSERT INTO memory (key, value, at) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING';
const updateSame = 'UPDATE memory SET value = $2, at = $3 WHERE key = $1 AND value = $4';
