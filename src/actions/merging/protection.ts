import type { Branch } from '../../contract/resources/branches.ts';
import type { CommitStatus } from '../../contract/resources/statuses.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import type { Meter } from '../../patterns/meter.ts';
import type { Matcher } from '../../patterns/pattern.ts';

/**
 * Returns why the required checks of a branch are not passed, or undefined if they are. Every required context is a pattern
 * that must match a status; all that match must have passed. Without patterns, all statuses count, and there must be one.
 */
export function unpassedChecks(
  base: Branch,
  statuses: readonly CommitStatus[],
  meter: Meter,
): string | undefined {
  if (!base.enable_status_check) return undefined;
  const patterns = base.status_check_contexts ?? [];
  if (patterns.length === 0) {
    if (statuses.length === 0) return 'it has no status yet, and its base requires status checks';
    return unpassed(statuses);
  }
  for (const pattern of patterns) {
    const matches = compileContext(pattern);
    if (matches === undefined) continue;
    const asked = statuses.filter(({ context }) => matches(context ?? '', meter));
    if (asked.length === 0) return `the required status ${pattern} is missing`;
    const why = unpassed(asked);
    if (why !== undefined) return why;
  }
  return undefined;
}

function unpassed(statuses: readonly CommitStatus[]): string | undefined {
  const open = statuses.find(({ status }) => status !== 'success' && status !== 'skipped');
  return open && `the required status ${open.context} is ${open.status ?? 'not known'}`;
}

/** Forges leave out patterns that they cannot read; whatever we read otherwise, the forge decides when it is asked. */
function compileContext(pattern: string): Matcher | undefined {
  if (pattern.startsWith('!')) return undefined;
  try {
    return compileGlob(pattern, { separator: '' });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}
