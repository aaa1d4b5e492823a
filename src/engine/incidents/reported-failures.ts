import type { ReportedFailure } from '../../rules/sources/report.ts';
import type { Incident } from './incident.ts';

/** Returns the failures of rules in the file of a repository, without what only an operator may know. */
export function reportedFailuresOf(
  incidents: readonly Incident[],
  repositoryId: number,
): readonly ReportedFailure[] {
  return incidents
    .filter(
      ({ kind, level, repositoryId: at }) =>
        kind === 'rule-failed' && level === 'repository' && at === repositoryId,
    )
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, count, lastAt, reason, isPublic }) => {
      const name = key.slice(key.lastIndexOf('#') + 1);
      const times = count === 1 ? 'once' : `${count} times`;
      const last = lastAt.toISOString().slice(0, 16).replace('T', ' ');
      const why = isPublic ? reason : 'the forge refused a request; the operator of Reeve sees which';
      // Reported at the 1st, 10th, 100th … time: a rule that fails on every event must not post a status for each.
      const magnitude = Math.floor(Math.log10(count));
      return {
        text: `rule ${name} failed ${times}, last ${last} UTC: ${why}`,
        identity: `failed ${magnitude} ${key}`,
      };
    });
}
