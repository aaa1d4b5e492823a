import type { Repository } from '../contract/resources/repositories.ts';

/** Kind of the job that processes a queue until it has to wait, and of the runs that record the queue's writes. */
export const mergeQueueKind = 'merge-queue';

/** Options of a queued pull request. */
export type QueueWish = {
  readonly method: MergeMethod;
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  /** Pull requests with higher numbers are merged first. */
  readonly priority: number;
  /** Maximum time between the pull request's turn and its merge. */
  readonly timeoutMs: number;
  /** Whether the pull request's head may be updated even if it is in a fork. */
  readonly forks: boolean;
};

/** A pull request with its repository, its base branch and the commit to merge. */
export type QueuePlaceOfPull = PullAtHead & {
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
};

/** A pull request within the repository of a run: its base branch and the commit to merge. */
export type PullAtHead = { readonly base: string; readonly number: number; readonly head: string };

/** `queued`, or the reason why a pull request cannot enter. Undefined: it is not queued and may enter. */
export type QueueStanding = 'queued' | { readonly why: string } | undefined;

/** Interface to the merge queues. The run of a rule only adds pull requests and does not wait for the merge. */
export interface QueueDesk {
  /**
   * Returns `queued`, or the reason why the pull request cannot enter because it has already left the queue with this
   * head. Undefined: it may enter.
   */
  find(pull: QueuePlaceOfPull): Promise<QueueStanding>;
  /**
   * Adds the pull request to the queue; the returned function removes it again. `ask`: the rule, and the delivery of
   * the rule's run.
   */
  enter(
    pull: QueuePlaceOfPull,
    wish: QueueWish,
    ask: { readonly rule: string; readonly delivery?: string | undefined },
  ): Promise<() => Promise<void>>;
  /**
   * Clears the reason why the pull request left the queue. Called when the rule has not requested the merge in the
   * meantime, so the pull request may enter again.
   */
  forgive(pull: QueuePlaceOfPull): Promise<void>;
}

/** Methods of merging a pull request. */
export const mergeMethods = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
type MergeMethod = (typeof mergeMethods)[number];

/** Repository setting that allows each method. */
const permits: Readonly<Record<MergeMethod, keyof Repository>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
};

/**
 * Returns the merge method: the given method, or the repository's default. Throws if the repository does not allow the
 * method.
 */
export function mergeMethodOf(given: MergeMethod | undefined, settings: Repository): MergeMethod {
  const byDefault = mergeMethods.find((one) => one === settings.default_merge_style) ?? 'merge';
  const method = given ?? byDefault;
  if (settings[permits[method]] !== false) return method;
  const allowed = mergeMethods.filter((one) => settings[permits[one]] !== false);
  throw new Error(
    `the repository does not allow the merge method ${method}; it allows ${allowed.join(', ') || 'none'}`,
  );
}
