import { randomUUID } from 'node:crypto';
import type { Database } from '../core/database.ts';
import type { HookTaskRow } from '../core/rows.ts';

/** How long a delivery that is over stays in the history. */
const keptSeconds = 7 * 24 * 3600;

/** The answer to a delivery, or the reason why there is none. */
export type RecordedAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it is from an address that is not public. */
  readonly isPrivate?: boolean;
};

/** The deliveries in the database: queued, on their way, and over. */
export interface DeliveryHistory {
  /** Marks the oldest queued delivery as on its way and returns it; hooks in `full` are passed over. */
  takeNext(full: readonly number[]): HookTaskRow | undefined;
  /** Records what is sent, without the `Authorization` header. */
  recordRequest(id: number, headers: Readonly<Record<string, string>>, body: string): void;
  recordAnswer(id: number, state: 'delivered' | 'failed', answer: RecordedAnswer): void;
  queueAgain(id: number): void;
  /** Returns the newest deliveries of a hook first. */
  list(hookId: number, limit?: number): readonly HookTaskRow[];
  /** Queues the same payload under a new id and returns that id; undefined for an unknown one. */
  repeat(uuid: string): string | undefined;
  removeOld(): void;
}

/** Opens the history. Deliveries that were on their way when the last process ended are recorded as failed. */
export function createDeliveryHistory(database: Database, now: () => number): DeliveryHistory {
  database.run(
    `UPDATE hook_tasks SET state = 'failed', response_body = ?, is_answer_private = 0 WHERE state = 'sending'`,
    'the forge stopped',
  );
  return {
    takeNext(full) {
      const task = database.get<HookTaskRow>(
        `SELECT * FROM hook_tasks WHERE state = 'queued' AND hook_id NOT IN (SELECT value FROM json_each(?))
         ORDER BY id LIMIT 1`,
        JSON.stringify(full),
      );
      if (task) database.run(`UPDATE hook_tasks SET state = 'sending' WHERE id = ?`, task.id);
      return task;
    },
    recordRequest(id, headers, body) {
      database.run(
        'UPDATE hook_tasks SET request_headers = ?, request_body = ? WHERE id = ?',
        JSON.stringify(headers),
        body,
        id,
      );
    },
    recordAnswer(id, state, answer) {
      database.run(
        `UPDATE hook_tasks SET state = ?, response_status = ?, response_headers = ?, response_body = ?,
           is_answer_private = ?, delivered_at = ? WHERE id = ?`,
        state,
        answer.status ?? 0,
        JSON.stringify(answer.headers ?? {}),
        answer.body,
        answer.isPrivate ?? false,
        now(),
        id,
      );
    },
    queueAgain(id) {
      database.run(`UPDATE hook_tasks SET state = 'queued' WHERE id = ?`, id);
    },
    list: (hookId, limit = 50) =>
      database.all<HookTaskRow>(
        'SELECT * FROM hook_tasks WHERE hook_id = ? ORDER BY id DESC LIMIT ?',
        hookId,
        limit,
      ),
    repeat(uuid) {
      const again = randomUUID();
      const { changes } = database.run(
        `INSERT INTO hook_tasks (uuid, hook_id, event_type, event, payload, created_at, again_of)
         SELECT ?, hook_id, event_type, event, payload, ?, uuid FROM hook_tasks WHERE uuid = ?`,
        again,
        now(),
        uuid,
      );
      return changes === 0 ? undefined : again;
    },
    removeOld() {
      const old = now() - keptSeconds;
      database.run(`DELETE FROM hook_tasks WHERE created_at < ? AND state IN ('delivered', 'failed')`, old);
    },
  };
}
