import type { DatabaseSync } from 'node:sqlite';

/**
 * Gives deliveries another life, to be called inside a transaction. Returns how many of the ids were dead, and, with
 * `also`, how many were deliveries of a webhook that are settled.
 */
export type Redrive = (
  ids: readonly string[],
  options: { readonly by: string; readonly at: Date; readonly also: boolean },
) => { readonly dead: number; readonly settled: number };

/** Prepares it. */
export function createRedrive(database: DatabaseSync): Redrive {
  const revived = `UPDATE deliveries SET state = 'accepted', routed = 0, attempts = 0, crashes = 0, failing_since = NULL, settled_at = NULL,
       reason = NULL, redriven_at = ?, redriven_by = ? WHERE id = ?`;
  const reviveDead = database.prepare(`${revived} AND state = 'dead'`);
  const reviveSettled = database.prepare(`${revived} AND state = 'settled' AND door = 'webhook'`);

  return (ids, { by, at, also }) => {
    let dead = 0;
    let settled = 0;
    for (const id of ids) {
      const values = [at.toISOString(), by, Number(id)] as const;
      dead += Number(reviveDead.run(...values).changes);
      if (also) settled += Number(reviveSettled.run(...values).changes);
    }
    return { dead, settled };
  };
}
