import type { DatabaseSync } from 'node:sqlite';
import type { AuditAction } from '../store.ts';

/** Records what a person did; to be called inside a transaction. */
export type NoteAudit = (entry: {
  readonly at: Date;
  readonly by: string;
  readonly action: AuditAction;
  readonly object: string;
}) => void;

/** Entries that are kept. */
const maxEntries = 10_000;

/** Prepares it. */
export function createNoteAudit(database: DatabaseSync): NoteAudit {
  const insert = database.prepare('INSERT INTO audit (at, by, action, object) VALUES (?, ?, ?, ?)');
  const trim = database.prepare('DELETE FROM audit WHERE number <= ?');
  return ({ at, by, action, object }) => {
    const { lastInsertRowid } = insert.run(at.toISOString(), by, action, object);
    trim.run(Number(lastInsertRowid) - maxEntries);
  };
}
