import { type Incident, type IncidentKind, incidentKinds } from '../engine/incidents/incident.ts';
import type { SqlRow } from './rows.ts';

/** Maximum number of incidents of one kind; beyond it the least recent are removed. */
export const maxIncidentsPerKind = 1_000;

/** Returns stored rows as incidents. A later version of this program may have written kinds that this one does not know. */
export function incidentsOf(rows: readonly SqlRow[]): readonly Incident[] {
  return rows.filter(({ kind }) => Object.hasOwn(incidentKinds, String(kind))).map(incidentOf);
}

function incidentOf({ kind, key, count, first_at, last_at, subject, details }: SqlRow): Incident {
  return {
    // The border to the store: what is in this column was written with an occurrence alone.
    ...(JSON.parse(String(details)) as Pick<Incident, 'reason' | 'level'>),
    kind: String(kind) as IncidentKind,
    key: String(key),
    count: Number(count),
    firstAt: new Date(String(first_at)),
    lastAt: new Date(String(last_at)),
    ...(subject === null ? {} : { subject: String(subject) }),
  };
}
