/**
 * How GitHub sees a pull request before a merge: the review decision and the merge state that bots read, and whether it
 * accepts a merge. Source: GitHub's documentation of `PullRequestReviewDecision`, `MergeStateStatus` and of protected
 * branches. The order of the merge states is not documented; an outdated head comes before other reasons here, as the
 * tests of kodiak have it.
 */
import type { Subject } from './subject.ts';

export type Standing = {
  readonly review: 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | null;
  readonly state: 'UNKNOWN' | 'DIRTY' | 'DRAFT' | 'BEHIND' | 'BLOCKED' | 'UNSTABLE' | 'CLEAN';
};

/** Returns what GitHub reports of an open pull request. */
export function standingOf(subject: Subject): Standing {
  const { protection } = subject;
  const head = subject.commits.at(-1)?.sha;
  const latest = new Map<string, string>();
  for (const { author, state, commit } of subject.reviews) {
    if (author === subject.author || state === 'COMMENTED' || !mayWrite(subject, author)) continue;
    const stale = protection?.dismissStale === true && state === 'APPROVED' && commit !== head;
    latest.set(author, stale ? 'DISMISSED' : state);
  }
  const states = [...latest.values()];
  const approvals = states.filter((state) => state === 'APPROVED').length;
  const review =
    protection === null || protection.approvals === 0
      ? null
      : states.includes('CHANGES_REQUESTED')
        ? 'CHANGES_REQUESTED'
        : approvals >= protection.approvals
          ? 'APPROVED'
          : 'REVIEW_REQUIRED';
  const passed = (name: string): boolean => {
    const found = subject.checks.filter((check) => check.name === name);
    return found.length > 0 && found.every(({ state }) => ['success', 'neutral', 'skipped'].includes(state));
  };
  const blocked =
    (review !== null && review !== 'APPROVED') ||
    (protection?.checks ?? []).some((name) => !passed(name)) ||
    (protection?.resolution === true && subject.unresolvedThreads > 0) ||
    (protection?.signatures === true && subject.commits.some(({ verified }) => !verified));
  const state =
    subject.mergeable === null
      ? 'UNKNOWN'
      : subject.mergeable === false
        ? 'DIRTY'
        : subject.draft
          ? 'DRAFT'
          : protection?.strict === true && subject.behind > 0
            ? 'BEHIND'
            : blocked
              ? 'BLOCKED'
              : subject.checks.some(({ name }) => !passed(name))
                ? 'UNSTABLE'
                : 'CLEAN';
  return { review, state };
}

/** Returns why GitHub refuses to merge, or undefined if it merges with the method. */
export function refusalOf(subject: Subject, method: string): string | undefined {
  if (subject.state === 'closed') return 'closed';
  const { state } = standingOf(subject);
  if (state !== 'CLEAN' && state !== 'UNSTABLE') return `merge state ${state}`;
  // A move of the base to the head commit is no pull request merge, so the methods of the repository do not matter.
  if (method === 'fast-forward') return subject.behind > 0 ? 'not a fast-forward' : undefined;
  return subject.methods.includes(method as 'merge') ? undefined : `method ${method} is off`;
}

export const mayWrite = (subject: Subject, login: string): boolean =>
  ['write', 'maintain', 'admin'].includes(subject.permissions[login] ?? 'none');
