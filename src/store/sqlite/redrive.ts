import type { DatabaseSync } from 'node:sqlite';
import { createNoteAudit } from './audit.ts';

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
  const revival = `UPDATE deliveries SET state = 'accepted', routed = 0, attempts = 0, crashes = 0, failing_since = NULL, settled_at = NULL,
       reason = NULL, redriven_at = ?, redriven_by = ? WHERE id = ?`;
  const reviveDead = database.prepare(`${revival} AND state = 'dead'`);
  const reviveSettled = database.prepare(`${revival} AND state = 'settled' AND door = 'webhook'`);

  const note = createNoteAudit(database);

  return (ids, { by, at, also }) => {
    let dead = 0;
    let settled = 0;
    for (const id of ids) {
      const values = [at.toISOString(), by, Number(id)] as const;
      const revived = Number(reviveDead.run(...values).changes);
      const again = also ? Number(reviveSettled.run(...values).changes) : 0;
      dead += revived;
      settled += again;
      if (revived + again > 0) note({ at, by, action: 'redrive', object: `delivery ${id}` });
    }
    return { dead, settled };
  };
}
