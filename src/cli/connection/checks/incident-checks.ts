import {
  type Incident,
  type IncidentKind,
  incidentKinds,
  kindRow,
} from '../../../engine/incidents/incident.ts';
import { plain } from '../../output/terminal.ts';
import { ok, wrong } from '../finding.ts';
import type { Check } from './examination.ts';

/** Maximum number of incidents that are named per kind; the rest are only counted. */
const named = 3;

/**
 * Kinds whose current state other checks read: `runners`, `access`, `scope`, `labels`, `named-secrets` and those of
 * hooks.
 */
const examinedNow: ReadonlySet<IncidentKind> = new Set([
  'rule-blind',
  'rule-hindered',
  'secret-unusable',
  'hook-silent',
]);

/** One check per other kind of incident in the store. */
export const incidentChecks: readonly Check[] = (Object.keys(incidentKinds) as readonly IncidentKind[])
  .filter((kind) => !examinedNow.has(kind))
  .map((kind): Check => {
    const { title, looks, fails, remedy } = kindRow(kind);
    return {
      id: kind,
      looks,
      fails,
      remedy,
      after: ['store'],
      async run({ store }) {
        const found = (await (await store()).listIncidents()).filter(
          (one) => one.kind === kind && isHere(one),
        );
        if (found.length === 0) return ok(`${title.toLowerCase()}: none`);
        const more = found.length > named ? `; and ${found.length - named} more` : '';
        const texts = found.slice(0, named).map(describe).join('; ');
        return wrong(plain(`${title.toLowerCase()}: ${found.length}: ${texts}${more}`), remedy);
      },
    };
  });

/**
 * Returns whether an incident is reported here. The operator's files have a separate check, which reads their current
 * state.
 */
function isHere({ kind, level }: Incident): boolean {
  return kind !== 'file-broken' || level !== 'operator';
}

function describe({ key, count, lastAt, reason, run }: Incident): string {
  const last = lastAt.toISOString().slice(0, 16).replace('T', ' ');
  const times = count === 1 ? 'once' : `${count} times`;
  const [line = ''] = reason.split('\n');
  return `${key}, ${times}, last ${last} UTC${run === undefined ? '' : ` (run ${run})`}: ${line}`;
}
