import type { Sql } from './link/connections.ts';

/** Entries that are kept. */
const maxEntries = 10_000;

/** The beginning of a statement that records what people did; the rows follow. */
export const insertAudit = 'INSERT INTO audit (at, by, action, object)';

/** Deletes the oldest entries beyond the number that is kept. */
export async function trimAudit(sql: Sql): Promise<void> {
  await sql.query('DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - $1::bigint', [
    maxEntries,
  ]);
}
