import type { DatabaseSync } from 'node:sqlite';
import { auditEntryOf, pausedObjectOf, pausedRepositoryOf, pauseKeyOf, pauseOf } from '../../pause-rows.ts';
import type { Store } from '../../store.ts';
import { createNoteAudit } from '../audit.ts';
import type { StoreContext } from './context.ts';

/** Returns the methods of the store about pauses and the audit. */
export function createPauseMethods(
  database: DatabaseSync,
  { write, read, clock }: Pick<StoreContext, 'write' | 'read' | 'clock'>,
): Pick<Store, 'pause' | 'resume' | 'listPauses' | 'noteAudit' | 'listAudit'> {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO pauses (kind, name, repository_id, at, by) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM pauses WHERE kind = ? AND name = ?');
  // Those that another pause still stops are deferred again by their next run.
  const wake = database.prepare(
    "UPDATE deliveries SET retry_at = ?, retry_wait_ms = 0 WHERE state = 'deferred' AND paused = 1",
  );
  // Each event asks: SQLite would make room for sorting, even of nothing. Those of one time stay in the order of the table's key.
  const list = database.prepare('SELECT * FROM pauses');
  const entries = database.prepare('SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?');
  const note = createNoteAudit(database);

  return {
    pause: (scope, by) =>
      write(() => {
        const at = clock.now();
        const { changes } = insert.run(
          scope.kind,
          pauseKeyOf(scope),
          pausedRepositoryOf(scope),
          at.toISOString(),
          by,
        );
        if (changes === 1) note({ at, by, action: 'pause', object: pausedObjectOf(scope) });
        return changes === 1;
      }),
    resume: (scope, by) =>
      write(() => {
        const at = clock.now();
        if (remove.run(scope.kind, pauseKeyOf(scope)).changes === 0) return false;
        wake.run(at.toISOString());
        note({ at, by, action: 'resume', object: pausedObjectOf(scope) });
        return true;
      }),
    listPauses: async () =>
      read(() =>
        list
          .all()
          .map(pauseOf)
          .sort((a, b) => a.at.getTime() - b.at.getTime()),
      ),
    noteAudit: (entry) => write(() => note({ ...entry, at: clock.now() })),
    listAudit: async ({ before = Number.MAX_SAFE_INTEGER, limit = 50 } = {}) =>
      read(() => entries.all(before, Math.min(limit, 500)).map(auditEntryOf)),
  };
}
