import { type IncidentKind, isOpen, kindRow, type Occurrence } from '../../engine/incidents/incident.ts';
import { incidentsOf, maxIncidentsPerKind } from '../incident-rows.ts';
import type { EncodedRun } from '../rows.ts';
import type { Store } from '../store.ts';
import type { PostgresContext } from './context.ts';
import type { Sql } from './link/connections.ts';
import { indexableText } from './link/text.ts';

/** Counts the rules that failed, and ends the incidents of rules that passed on the subject of their last failure. */
export async function noteResults(
  sql: Sql,
  runs: readonly EncodedRun[],
  lane: string | undefined,
): Promise<void> {
  for (const { results, item } of runs) {
    const subject = item ?? lane;
    const failed = results.failed.map((one) => (subject === undefined ? one : { ...one, subject }));
    await raiseAll(sql, failed);
    if (results.passed.length === 0 || subject === undefined) continue;
    await sql.query(
      "DELETE FROM incidents WHERE kind = 'rule-failed' AND subject = $1 AND key = ANY ($2::text[])",
      [indexableText(subject), results.passed.map(indexableText)],
    );
  }
}

/** Returns the methods about incidents alone. */
export function createPostgresIncidents({ database, now }: Pick<PostgresContext, 'database' | 'now'>): Pick<
  Store,
  'raise' | 'clear' | 'listIncidents'
> & {
  /** Deletes ended incidents. */
  dropEnded(): Promise<void>;
} {
  const read = async () =>
    incidentsOf((await database.query('SELECT * FROM incidents ORDER BY last_at DESC, kind, key')).rows);

  return {
    async raise(occurrences) {
      if (occurrences.length > 0) await database.transaction((sql) => raiseAll(sql, occurrences));
    },
    async clear(kind, keys, { before } = {}) {
      if (keys.length === 0) return 0;
      const { count } = await database.query(
        'DELETE FROM incidents WHERE kind = $1 AND key = ANY ($2::text[]) AND last_at < $3',
        [kind, keys.map(indexableText), before?.toISOString() ?? 'infinity'],
      );
      return count;
    },
    listIncidents: async () => (await read()).filter((incident) => isOpen(incident, now())),
    async dropEnded() {
      for (const { kind, key, lastAt } of await read()) {
        if (isOpen({ kind, lastAt }, now())) continue;
        // One that is seen again meanwhile stays.
        await database.query('DELETE FROM incidents WHERE kind = $1 AND key = $2 AND last_at = $3', [
          kind,
          key,
          lastAt.toISOString(),
        ]);
      }
    },
  };
}

/** Counts occurrences; one after the end of its incident begins a new count. */
async function raiseAll(sql: Sql, occurrences: readonly Occurrence[]): Promise<void> {
  let rest = occurrences;
  const kinds = new Set(occurrences.map(({ kind }) => kind));
  while (rest.length > 0) {
    // A statement changes a row once: further occurrences of an incident are counted by the next.
    const batch = new Map<string, Occurrence>();
    const later: Occurrence[] = [];
    const [{ kind }] = rest as readonly [Occurrence];
    for (const one of rest) {
      const key = indexableText(one.key);
      if (one.kind !== kind || batch.has(key)) later.push(one);
      else batch.set(key, one);
    }
    await raiseDistinct(sql, kind, batch);
    rest = later;
  }
  for (const kind of kinds) await sql.query(dropExcess, [kind]);
}

async function raiseDistinct(
  sql: Sql,
  kind: IncidentKind,
  batch: ReadonlyMap<string, Occurrence>,
): Promise<void> {
  // In the order of their keys, so that two processes do not wait for each other.
  const rows = [...batch].sort(([a], [b]) => (a < b ? -1 : 1));
  await sql.query(raiseThem, [
    kind,
    rows.map(([key]) => key),
    rows.map(([, { at }]) => at.toISOString()),
    rows.map(([, { subject }]) => (subject === undefined ? null : indexableText(subject))),
    rows.map(([, { kind: _kind, key: _key, at: _at, subject: _subject, ...details }]) =>
      JSON.stringify(details),
    ),
    kindRow(kind).lastsMs ?? null,
  ]);
}

const raiseThem = `
  INSERT INTO incidents (kind, key, count, first_at, last_at, subject, details)
  SELECT $1, key, 1, at, at, subject, details
  FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[]) AS given (key, at, subject, details)
  ON CONFLICT (kind, key) DO UPDATE SET
    count = CASE WHEN incidents.last_at <= excluded.last_at - $6 * interval '1 ms' THEN 1 ELSE incidents.count + 1 END,
    first_at = CASE WHEN incidents.last_at <= excluded.last_at - $6 * interval '1 ms' THEN excluded.first_at
      ELSE incidents.first_at END,
    last_at = excluded.last_at, subject = excluded.subject, details = excluded.details`;

const dropExcess = `DELETE FROM incidents WHERE kind = $1 AND key IN
  (SELECT key FROM incidents WHERE kind = $1 ORDER BY last_at DESC, key OFFSET ${maxIncidentsPerKind})`;
