import type { Repository } from '../contract/resources/repositories.ts';

/** Kind of the job that works on a queue until it waits, and of the runs that record what it wrote. */
export const mergeQueueKind = 'merge-queue';

/** How a queued pull request is to be merged. */
export type QueueWish = {
  readonly method: MergeMethod;
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  /** Larger numbers go first. */
  readonly priority: number;
  /** Longest time between its turn and its merge. */
  readonly timeoutMs: number;
  /** Its head may be brought up to date although it is in a fork. */
  readonly forks: boolean;
};

/** A pull request at its base branch, with the commit that is to be merged. */
export type QueuePlaceOfPull = PullAtHead & {
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
};

/** The same within the repository of a run. */
export type PullAtHead = { readonly base: string; readonly number: number; readonly head: string };

/** Whether a pull request is queued, or why it does not enter. Undefined: it may enter. */
export type QueueStanding = 'queued' | { readonly why: string } | undefined;

/** Where pull requests enter a merge queue. What they then wait for is not the concern of a rule's run. */
export interface QueueDesk {
  /** Returns whether it is queued, or why it does not enter: it left with this head. Undefined: it may enter. */
  find(pull: QueuePlaceOfPull): Promise<QueueStanding>;
  /** Lets it enter; the returned function takes that back. `ask`: the rule, and the delivery that it ran for. */
  enter(
    pull: QueuePlaceOfPull,
    wish: QueueWish,
    ask: { readonly rule: string; readonly delivery?: string | undefined },
  ): Promise<() => Promise<void>>;
  /** Forgets why it left: its rule did not want it for a while. */
  forgive(pull: QueuePlaceOfPull): Promise<void>;
}

/** How a pull request can be merged. */
export const mergeMethods = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
type MergeMethod = (typeof mergeMethods)[number];

/** Setting of the repository that allows a method. */
const permits: Readonly<Record<MergeMethod, keyof Repository>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
};

/** Returns how to merge: as given, or as the repository does by default. Throws if the repository does not allow it. */
export function mergeMethodOf(given: MergeMethod | undefined, settings: Repository): MergeMethod {
  const byDefault = mergeMethods.find((one) => one === settings.default_merge_style) ?? 'merge';
  const method = given ?? byDefault;
  if (settings[permits[method]] !== false) return method;
  const allowed = mergeMethods.filter((one) => settings[permits[one]] !== false);
  throw new Error(
    `the repository does not allow the merge method ${method}; it allows ${allowed.join(', ') || 'none'}`,
  );
}
