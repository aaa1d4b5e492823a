import type { DatabaseSync } from 'node:sqlite';
import {
  type Incident,
  type IncidentKind,
  isOpen,
  kindRow,
  type Occurrence,
} from '../../engine/incidents/incident.ts';
import type { RuleResults } from '../../engine/incidents/rule-failures.ts';
import { incidentsOf, maxIncidentsPerKind } from '../incident-rows.ts';
import type { SqlRow } from '../rows.ts';

/** The incidents of a store, to be used inside its transactions. */
export interface IncidentTable {
  /** Counts an occurrence; one after the end of the incident begins a new count. */
  raise(occurrence: Occurrence): void;
  /** Ends incidents, with `before` those not seen since. Returns their number. */
  clear(kind: IncidentKind, keys: readonly string[], before?: Date): number;
  /** Counts the rules that failed on a subject, and ends the incidents of rules that passed on the subject of their last failure. */
  note(results: RuleResults, subject: string | undefined): void;
  /** Returns the open incidents, most recent first. */
  list(now: Date): readonly Incident[];
  /** Deletes ended incidents. */
  prune(now: Date): void;
}

/** Prepares the table. */
export function createIncidentTable(database: DatabaseSync): IncidentTable {
  const upsert = database.prepare(
    `INSERT INTO incidents (kind, key, count, first_at, last_at, subject, details) VALUES (?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (kind, key) DO UPDATE SET
       count = iif(last_at <= ?, 1, count + 1), first_at = iif(last_at <= ?, excluded.first_at, first_at),
       last_at = excluded.last_at, subject = excluded.subject, details = excluded.details`,
  );
  const size = database.prepare('SELECT count(*) AS n FROM incidents WHERE kind = ?');
  const dropOldest = database.prepare(
    `DELETE FROM incidents WHERE kind = ? AND key IN
       (SELECT key FROM incidents WHERE kind = ? ORDER BY last_at LIMIT ?)`,
  );
  const remove = database.prepare(
    'DELETE FROM incidents WHERE kind = ? AND key IN (SELECT value FROM json_each(?)) AND last_at < ?',
  );
  // Each event asks: a table for the keys, or for sorting, would cost more than the question.
  const failing = database.prepare("SELECT key FROM incidents WHERE kind = 'rule-failed' AND subject = ?");
  const all = database.prepare('SELECT * FROM incidents');
  const removeOne = database.prepare('DELETE FROM incidents WHERE kind = ? AND key = ?');

  const raise = ({ kind, key, at, subject, ...details }: Occurrence): void => {
    const { lastsMs } = kindRow(kind);
    const atText = at.toISOString();
    const overBefore = lastsMs === undefined ? '' : new Date(at.getTime() - lastsMs).toISOString();
    const json = JSON.stringify(details);
    upsert.run(kind, key, atText, atText, subject ?? null, json, overBefore, overBefore);
    const excess = Number(size.get(kind)?.n) - maxIncidentsPerKind;
    if (excess > 0) dropOldest.run(kind, kind, excess);
  };

  const read = (): readonly Incident[] => incidentsOf(all.all() as readonly SqlRow[]);

  const resolve = (subject: string, passed: readonly string[]): void => {
    const keys = failing.all(subject).map(({ key }) => String(key));
    if (keys.length === 0) return;
    const over = new Set(passed);
    for (const key of keys) if (over.has(key)) removeOne.run('rule-failed', key);
  };

  return {
    raise,
    clear(kind, keys, before) {
      if (keys.length === 0) return 0;
      // '~' is beyond every RFC 3339 text.
      return Number(remove.run(kind, JSON.stringify(keys), before?.toISOString() ?? '~').changes);
    },
    note({ failed, passed }, subject) {
      for (const occurrence of failed) raise(subject === undefined ? occurrence : { ...occurrence, subject });
      if (subject !== undefined) resolve(subject, passed);
    },
    list: (now) =>
      read()
        .filter((incident) => isOpen(incident, now))
        // Those of one time stay in the order of the table's key.
        .sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime()),
    prune(now) {
      for (const incident of read()) if (!isOpen(incident, now)) removeOne.run(incident.kind, incident.key);
    },
  };
}
