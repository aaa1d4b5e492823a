import { nameOfScope, type Pause } from '../../../engine/bounds/pauses.ts';
import {
  type Incident,
  type IncidentKind,
  incidentKinds,
  kindRow,
} from '../../../engine/incidents/incident.ts';
import { plain } from '../../output/terminal.ts';
import { type Finding, ok, warning, wrong } from '../finding.ts';
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

/** The pauses in force, and one check per other kind of incident in the store. */
export const incidentChecks: readonly Check[] = [
  {
    id: 'pauses',
    looks: 'The pauses in force: what is paused, since when, and by whom.',
    fails: 'Never: it warns about each, because a pause that someone forgot looks like a day without events.',
    remedy: '`reeve resume NAME` ends a pause; the check names the command for each.',
    after: ['store'],
    run: async ({ store }) => pausesFinding(await (await store()).listPauses()),
  },
  ...incidentKindChecks(),
];

function incidentKindChecks(): readonly Check[] {
  return (Object.keys(incidentKinds) as readonly IncidentKind[])
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
}

function pausesFinding(pauses: readonly Pause[]): Finding {
  if (pauses.length === 0) return ok('nothing is paused');
  const texts = pauses.map(({ scope, at, by }) => {
    const what = scope.kind === 'all' ? 'all writes' : `${scope.kind} ${scope.name}`;
    return `${what} paused since ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC by ${by}`;
  });
  const commands = pauses.map(({ scope }) => `reeve resume ${quoted(nameOfScope(scope))}`);
  return warning(plain(texts.join('; ')), plain(`if it is no longer intended: ${commands.join('; ')}`));
}

/** Returns a word as a shell reads it: `#` alone would begin a comment. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

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
