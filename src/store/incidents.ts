import {
  type Incident,
  type IncidentKind,
  incidentKinds,
  isOpen,
  kindRow,
  type Occurrence,
} from '../engine/incidents/incident.ts';
import type { EncodedRun } from './rows.ts';
import { marksFor, type Sql, type SqlRow, type Statement } from './sql.ts';
import type { IncidentRows } from './store.ts';

/** Maximum number of incidents of one kind; beyond it, the least recent ones are removed. */
const maxIncidentsPerKind = 1_000;

const raiseOne = `
  INSERT INTO incidents (kind, key, count, first_at, last_at, subject, details) VALUES (?, ?, 1, ?, ?, ?, ?)
  ON CONFLICT (kind, key) DO UPDATE SET
    count = CASE WHEN incidents.last_at <= ? THEN 1 ELSE incidents.count + 1 END,
    first_at = CASE WHEN incidents.last_at <= ? THEN excluded.first_at ELSE incidents.first_at END,
    last_at = excluded.last_at, subject = excluded.subject, details = excluded.details`;

const dropExcess = `
  DELETE FROM incidents WHERE kind = ? AND key IN
    (SELECT key FROM incidents WHERE kind = ? ORDER BY last_at DESC, key LIMIT 1000000 OFFSET ${maxIncidentsPerKind})`;

/** Returns the statements that count occurrences. An occurrence after the end of its incident starts a new count. */
function raiseAll(occurrences: readonly Occurrence[]): readonly Statement[] {
  // Sorted by kind and key, so that two processes do not deadlock.
  const ordered = occurrences.toSorted((a, b) => compare(a.kind, b.kind) || compare(a.key, b.key));
  const kinds = new Set(ordered.map(({ kind }) => kind));
  return [
    ...ordered.map(({ kind, key, at, subject, ...details }) => {
      const { lastsMs } = kindRow(kind);
      const endedBefore = lastsMs === undefined ? null : new Date(at.getTime() - lastsMs).toISOString();
      const seenAt = at.toISOString();
      const about = subject === undefined ? null : { indexed: subject };
      return {
        sql: raiseOne,
        values: [
          kind,
          { indexed: key },
          seenAt,
          seenAt,
          about,
          JSON.stringify(details),
          endedBefore,
          endedBefore,
        ],
      };
    }),
    ...[...kinds].map((kind) => ({ sql: dropExcess, values: [kind, kind] })),
  ];
}

/**
 * Returns the statements that count the rules that failed in runs. They also end the incidents of rules that have
 * passed on the subject of their last failure.
 */
export function noteRuns(runs: readonly EncodedRun[], lane: string | undefined): readonly Statement[] {
  return runs.flatMap(({ results: { failed, passed }, item }) => {
    const subject = item ?? lane;
    const raised = raiseAll(failed.map((one) => (subject === undefined ? one : { ...one, subject })));
    if (subject === undefined || passed.length === 0) return raised;
    const ended = {
      sql: `DELETE FROM incidents WHERE kind = 'rule-failed' AND subject = ? AND key IN (${marksFor(passed)})`,
      values: [{ indexed: subject }, ...passed.map((rule) => ({ indexed: rule }))],
    };
    return [...raised, ended];
  });
}

/** Returns the part of the store that keeps incidents. */
export function createIncidents(
  sql: Sql,
  clock: { now(): Date },
): IncidentRows & {
  /** Deletes ended incidents. */
  dropEnded(): Promise<void>;
} {
  // The failures of rules are read on every event, when there may be a thousand incidents of another kind. The order is
  // that of the table, because SQLite would sort for any other order, even if the table is empty.
  const read = async (kinds?: readonly IncidentKind[]) =>
    incidentsOf(
      kinds === undefined
        ? await sql.all('SELECT * FROM incidents ORDER BY kind, key')
        : await sql.all(
            `SELECT * FROM incidents WHERE kind IN (${marksFor(kinds)}) ORDER BY kind, key`,
            kinds,
          ),
    );

  return {
    async raise(occurrences) {
      if (occurrences.length > 0) await sql.batch(raiseAll(occurrences));
    },
    async clear(kind, keys, { before } = {}) {
      if (keys.length === 0) return 0;
      const [count = 0] = await sql.batch([
        {
          sql: `DELETE FROM incidents WHERE kind = ? AND key IN (${marksFor(keys)}) ${before ? 'AND last_at < ?' : ''}`,
          values: [kind, ...keys.map((key) => ({ indexed: key })), ...(before ? [before.toISOString()] : [])],
        },
      ]);
      return count;
    },
    async listIncidents(kinds) {
      const open = (await read(kinds)).filter((incident) => isOpen(incident, clock.now()));
      return open.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
    },
    async dropEnded() {
      const ended = (await read()).filter((incident) => !isOpen(incident, clock.now()));
      if (ended.length === 0) return;
      await sql.batch(
        ended.map(({ kind, key, lastAt }) => ({
          // An incident that has recurred in the meantime stays.
          sql: 'DELETE FROM incidents WHERE kind = ? AND key = ? AND last_at = ?',
          values: [kind, key, lastAt.toISOString()],
        })),
      );
    },
  };
}

/** Returns stored rows as incidents. A later version of this program may have written kinds unknown to this one. */
export function incidentsOf(rows: readonly SqlRow[]): readonly Incident[] {
  return rows
    .filter(({ kind }) => Object.hasOwn(incidentKinds, String(kind)))
    .map(({ kind, key, count, first_at, last_at, subject, details }) => ({
      // Store boundary: this column is only written with an occurrence.
      ...(JSON.parse(String(details)) as Pick<Incident, 'reason' | 'level'>),
      kind: String(kind) as IncidentKind,
      key: String(key),
      count: Number(count),
      firstAt: new Date(String(first_at)),
      lastAt: new Date(String(last_at)),
      ...(subject === null ? {} : { subject: String(subject) }),
    }));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
