import type { Branch } from '../../contract/resources/branches.ts';
import type { CommitStatus } from '../../contract/resources/statuses.ts';
import { judgeRequiredChecks, queueContext } from '../../facts/statuses.ts';
import type { Meter } from '../../patterns/meter.ts';
import type { ChecksSeen } from './state.ts';

/** Returns the statuses that a queue may wait for: its own is never one of them. */
export function foreignStatuses(all: readonly CommitStatus[]): readonly CommitStatus[] {
  return all.filter(({ context }) => context !== queueContext);
}

/**
 * Returns how the checks of a commit stand: those that the base requires; if it requires none, every status that there is, and
 * those of `expected`. The status of the queue itself is left out, and so is the requirement of its very name. Every other status
 * counts, those of rules of Reeve as well; a pattern that none of them matches is pending.
 */
export function judgeChecks(
  base: Branch,
  all: readonly CommitStatus[],
  { expected, meter }: { readonly expected: readonly string[]; readonly meter: Meter },
): ChecksSeen {
  const found = foreignStatuses(all);
  const required = withoutOwn(base);
  const judged = judgeRequiredChecks(required, found, meter);
  const first =
    judged.find(({ state }) => state === 'failure') ?? judged.find(({ state }) => state !== 'success');
  if (first) {
    return {
      state: first.state === 'failure' ? 'failure' : found.length === 0 ? 'none' : 'pending',
      context: first.unpassed[0]?.context ?? first.context,
    };
  }
  return required.enable_status_check ? { state: 'success' } : judgeAll(found, expected);
}

/** The base without the requirement of our own status: it is written once all else has passed. */
function withoutOwn(base: Branch): Branch {
  if (!base.enable_status_check) return { ...base, enable_status_check: false };
  const contexts = base.status_check_contexts ?? [];
  if (contexts.length === 0) return base;
  const others = contexts.filter((context) => context !== queueContext);
  return { ...base, enable_status_check: others.length > 0, status_check_contexts: others };
}

function judgeAll(found: readonly CommitStatus[], expected: readonly string[]): ChecksSeen {
  const missing = expected.find((context) => !found.some((one) => one.context === context));
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  const failed = unpassed.find(({ status }) => status !== 'pending');
  if (failed) return { state: 'failure', context: failed.context ?? '' };
  const context = unpassed[0]?.context ?? missing;
  if (context !== undefined) return { state: found.length === 0 ? 'none' : 'pending', context };
  return { state: 'success' };
}
