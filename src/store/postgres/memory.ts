import type { Store } from '../store.ts';
import type { PostgresContext } from './context.ts';
import { indexableText, storableOrNull } from './link/text.ts';

/** Returns the methods that keep plain data under keys. */
export function createPostgresMemory({
  database,
}: Pick<PostgresContext, 'database'>): Pick<Store, 'remember' | 'recall'> {
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
        [indexableText(key), json, storableOrNull(dateIn(value))],
      );
    },
    async recall(key) {
      const { rows } = await database.query('SELECT value FROM memory WHERE key = $1', [indexableText(key)]);
      return rows[0] === undefined ? undefined : JSON.parse(String(rows[0].value));
    },
  };
}

/** The date that data is deleted by. The server does not look into JSON that may hold NUL. */
function dateIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value)) return undefined;
  return typeof value.at === 'string' ? value.at : undefined;
}
