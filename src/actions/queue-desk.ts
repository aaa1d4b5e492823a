import type { Repository } from '../contract/resources/repositories.ts';

/** Kind of the job that processes a queue until it waits, and of the runs that record its writes. */
export const mergeQueueKind = 'merge-queue';

/** Options of a queued pull request. */
export type QueueWish = {
  readonly method: MergeMethod;
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  /** Higher numbers are merged first. */
  readonly priority: number;
  /** Maximum time between its turn and its merge. */
  readonly timeoutMs: number;
  /** Whether its head may be updated although it is in a fork. */
  readonly forks: boolean;
};

/** A pull request with its base branch and the commit to merge. */
export type QueuePlaceOfPull = PullAtHead & {
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
};

/** The same within the repository of a run. */
export type PullAtHead = { readonly base: string; readonly number: number; readonly head: string };

/** Whether a pull request is queued, or why it cannot enter. Undefined: it may enter. */
export type QueueStanding = 'queued' | { readonly why: string } | undefined;

/** Interface to the merge queues. A rule's run only lets pull requests enter and does not wait for the merge. */
export interface QueueDesk {
  /** Returns whether it is queued, or why it cannot enter: it left with this head. Undefined: it may enter. */
  find(pull: QueuePlaceOfPull): Promise<QueueStanding>;
  /** Adds it to the queue; the returned function undoes that. `ask`: the rule, and the delivery of its run. */
  enter(
    pull: QueuePlaceOfPull,
    wish: QueueWish,
    ask: { readonly rule: string; readonly delivery?: string | undefined },
  ): Promise<() => Promise<void>>;
  /** Clears the reason for which it left, because its rule did not want it for a while. */
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

/** Returns the merge method: the given one, or the repository's default. Throws if the repository does not allow it. */
export function mergeMethodOf(given: MergeMethod | undefined, settings: Repository): MergeMethod {
  const byDefault = mergeMethods.find((one) => one === settings.default_merge_style) ?? 'merge';
  const method = given ?? byDefault;
  if (settings[permits[method]] !== false) return method;
  const allowed = mergeMethods.filter((one) => settings[permits[one]] !== false);
  throw new Error(
    `the repository does not allow the merge method ${method}; it allows ${allowed.join(', ') || 'none'}`,
  );
}
