import type { Branch } from '../../contract/resources/branches.ts';
import type { CommitStatus } from '../../contract/resources/statuses.ts';
import { judgeRequiredChecks } from '../../facts/required-checks.ts';
import type { Meter } from '../../patterns/meter.ts';

/** Returns why the required checks of a branch are not passed, or undefined if they are. */
export function unpassedChecks(
  base: Branch,
  statuses: readonly CommitStatus[],
  meter: Meter,
): string | undefined {
  const check = judgeRequiredChecks(base, statuses, meter).find(({ state }) => state !== 'success');
  if (check === undefined) return undefined;
  const [open] = check.unpassed;
  if (open) return `the required status ${open.context} is ${open.status ?? 'not known'}`;
  if ((base.status_check_contexts ?? []).length === 0) {
    return 'it has no status yet, and its base requires status checks';
  }
  return `the required status ${check.context} is missing`;
}
