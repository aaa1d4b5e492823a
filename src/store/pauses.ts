import type { Pause, PauseScope } from '../engine/bounds/pauses.ts';
import { now, type Sql, type SqlRow, type Statement } from './sql.ts';
import type { AuditAction, AuditEntry, AuditRows, NewAuditEntry, PauseRows } from './store.ts';

/** Maximum number of audit entries kept. */
const maxEntries = 10_000;

/** Returns the statements that add an audit entry. */
export function noteAudit({ by, action, object }: NewAuditEntry): readonly Statement[] {
  return [
    {
      sql: 'INSERT INTO audit (at, by, action, object) VALUES (?, ?, ?, ?)',
      values: [now, by, action, object],
    },
    {
      sql: `DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ${maxEntries}`,
      values: [],
    },
  ];
}

/**
 * Returns the parts of the store that keep pauses and the audit. `onResume` is called when deliveries may run again.
 */
export function createPauses(sql: Sql, onResume: () => void): PauseRows & AuditRows {
  return {
    async pause(scope, by) {
      const [added] = await sql.batch([
        {
          sql: `INSERT INTO pauses (kind, name, repository_id, at, by) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (kind, name) DO NOTHING`,
          values: [scope.kind, { indexed: pauseKeyOf(scope) }, pausedRepositoryOf(scope), now, by],
          isGuard: true,
        },
        ...noteAudit({ by, action: 'pause', object: pausedObjectOf(scope) }),
      ]);
      return added === 1;
    },
    async resume(scope, by) {
      const [removed] = await sql.batch([
        {
          sql: 'DELETE FROM pauses WHERE kind = ? AND name = ?',
          values: [scope.kind, { indexed: pauseKeyOf(scope) }],
          isGuard: true,
        },
        {
          // Deliveries that another pause still affects are deferred again by their next run.
          sql: "UPDATE deliveries SET retry_at = ?, retry_wait_ms = 0 WHERE state = 'deferred' AND paused",
          values: [now],
        },
        ...noteAudit({ by, action: 'resume', object: pausedObjectOf(scope) }),
      ]);
      onResume();
      return removed === 1;
    },
    async listPauses() {
      // This runs on every event. SQLite would sort for any other order, even if the table is empty.
      const rows = await sql.all('SELECT * FROM pauses ORDER BY kind, name');
      return rows.map(pauseOf).sort((a, b) => a.at.getTime() - b.at.getTime());
    },
    async noteAudit(entry) {
      await sql.batch(noteAudit(entry));
    },
    async listAudit({ before = Number.MAX_SAFE_INTEGER, limit = 50 } = {}) {
      const rows = await sql.all('SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?', [
        before,
        Math.min(limit, 500),
      ]);
      return rows.map(auditEntryOf);
    },
  };
}

/** Returns the name under which a pause is stored. Repository names are case-insensitive on all forges. */
function pauseKeyOf(scope: PauseScope): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'repository' ? scope.name.toLowerCase() : scope.name;
}

/** Returns the id of the repository of a pause, if known. */
function pausedRepositoryOf(scope: PauseScope): number | null {
  return scope.kind === 'repository' ? (scope.repositoryId ?? null) : null;
}

/** Returns the scope of a pause as shown in the audit. */
function pausedObjectOf(scope: PauseScope): string {
  return scope.kind === 'all' ? 'all writes' : `${scope.kind} ${scope.name}`;
}

function pauseOf(row: SqlRow): Pause {
  return { scope: toScope(row), at: new Date(String(row.at)), by: String(row.by) };
}

function toScope({ kind, name, repository_id: id }: SqlRow): PauseScope {
  if (kind === 'repository') {
    return { kind, name: String(name), ...(id === null ? {} : { repositoryId: Number(id) }) };
  }
  return kind === 'rule' ? { kind, name: String(name) } : { kind: 'all' };
}

function auditEntryOf({ number, at, by, action, object }: SqlRow): AuditEntry {
  return {
    number: Number(number),
    at: new Date(String(at)),
    by: String(by),
    // Boundary to the table: only this program writes it.
    action: action as AuditAction,
    object: String(object),
  };
}
