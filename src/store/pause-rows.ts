import type { Pause, PauseScope } from '../engine/bounds/pauses.ts';
import type { SqlRow } from './rows.ts';
import type { AuditAction, AuditEntry } from './store.ts';

/** Returns the name under which a pause is stored. Names of repositories differ in case on no forge. */
export function pauseKeyOf(scope: PauseScope): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'repository' ? scope.name.toLowerCase() : scope.name;
}

/** Returns the id of the repository that a pause stops, where it is known. */
export function pausedRepositoryOf(scope: PauseScope): number | null {
  return scope.kind === 'repository' ? (scope.repositoryId ?? null) : null;
}

/** Returns what a pause stops, as the audit names it. */
export function pausedObjectOf(scope: PauseScope): string {
  return scope.kind === 'all' ? 'all writes' : `${scope.kind} ${scope.name}`;
}

/** Returns a stored row as a pause. */
export function pauseOf(row: SqlRow): Pause {
  return { scope: toScope(row), at: new Date(String(row.at)), by: String(row.by) };
}

function toScope({ kind, name, repository_id: id }: SqlRow): PauseScope {
  if (kind === 'repository') {
    return { kind, name: String(name), ...(id === null ? {} : { repositoryId: Number(id) }) };
  }
  return kind === 'rule' ? { kind, name: String(name) } : { kind: 'all' };
}

/** Returns a stored row as an entry of the audit. */
export function auditEntryOf({ number, at, by, action, object }: SqlRow): AuditEntry {
  return {
    number: Number(number),
    at: new Date(String(at)),
    by: String(by),
    // The border to the table: only this program writes it.
    action: action as AuditAction,
    object: String(object),
  };
}
