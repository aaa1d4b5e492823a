import type { ForgeContext } from '../core/context.ts';
import type { HookTaskRow } from '../core/rows.ts';

/** Sends a delivery of a hook again and returns the new id; undefined where the hook has no such delivery. */
export function redeliverOf(context: ForgeContext, hookId: number, uuid: string): string | undefined {
  const sql = 'SELECT * FROM hook_tasks WHERE uuid = ? AND hook_id = ?';
  const task = context.db.get<HookTaskRow>(sql, uuid, Number.isSafeInteger(hookId) ? hookId : 0);
  return task && context.deliveries.redeliver(task.uuid);
}
