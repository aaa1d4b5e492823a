import type { DatabaseSync } from 'node:sqlite';
import type { Pause, PauseScope } from '../../../engine/bounds/pauses.ts';
import type { AuditAction, AuditEntry, Store } from '../../store.ts';
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
  const list = database.prepare('SELECT * FROM pauses ORDER BY at, kind, name');
  const entries = database.prepare('SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?');
  const note = createNoteAudit(database);

  return {
    pause: (scope, by) =>
      write(() => {
        const at = clock.now();
        const { changes } = insert.run(scope.kind, keyOf(scope), repositoryIdOf(scope), at.toISOString(), by);
        if (changes === 1) note({ at, by, action: 'pause', object: objectOf(scope) });
        return changes === 1;
      }),
    resume: (scope, by) =>
      write(() => {
        const at = clock.now();
        if (remove.run(scope.kind, keyOf(scope)).changes === 0) return false;
        wake.run(at.toISOString());
        note({ at, by, action: 'resume', object: objectOf(scope) });
        return true;
      }),
    listPauses: async () => read(() => list.all().map(toPause)),
    noteAudit: (entry) => write(() => note({ ...entry, at: clock.now() })),
    listAudit: async ({ before = Number.MAX_SAFE_INTEGER, limit = 50 } = {}) =>
      read(() => entries.all(before, Math.min(limit, 500)).map(toAuditEntry)),
  };
}

/** Names of repositories differ in case on no forge. */
function keyOf(scope: PauseScope): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'repository' ? scope.name.toLowerCase() : scope.name;
}

function repositoryIdOf(scope: PauseScope): number | null {
  return scope.kind === 'repository' ? (scope.repositoryId ?? null) : null;
}

function objectOf(scope: PauseScope): string {
  return scope.kind === 'all' ? 'all writes' : `${scope.kind} ${scope.name}`;
}

function toPause(row: Readonly<Record<string, unknown>>): Pause {
  return { scope: toScope(row), at: new Date(String(row.at)), by: String(row.by) };
}

function toScope({ kind, name, repository_id: id }: Readonly<Record<string, unknown>>): PauseScope {
  if (kind === 'repository') {
    return { kind, name: String(name), ...(id === null ? {} : { repositoryId: Number(id) }) };
  }
  return kind === 'rule' ? { kind, name: String(name) } : { kind: 'all' };
}

function toAuditEntry({ number, at, by, action, object }: Readonly<Record<string, unknown>>): AuditEntry {
  return {
    number: Number(number),
    at: new Date(String(at)),
    by: String(by),
    // The border to the table: only this program writes it.
    action: action as AuditAction,
    object: String(object),
  };
}
