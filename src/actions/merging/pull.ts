import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { Change } from '../change.ts';

/** The commit and the branches of a pull request that a merge needs. */
export type PullSides = { readonly head: string; readonly base: string; readonly isFork: boolean };

/** Returns the sides of a pull request. Throws if the forge does not show them. */
export function sidesOf({ number, head, base }: PullRequest): PullSides {
  if (!head?.sha || !base?.ref) throw new Error(`pull request #${number} has no head or no base`);
  // The head repository of a fork may be gone.
  const isFork = head.repo?.id === undefined || head.repo.id !== (base.repo?.id ?? base.repo_id);
  return { head: head.sha, base: base.ref, isFork };
}

/** Returns the change with a reason not to make it now. `polls`: what it waits for comes without an event on some forges. */
export function waiting(change: Omit<Change, 'reason'>, why: string, polls = false): Change {
  return { ...change, reason: why, waits: { why, polls } };
}
