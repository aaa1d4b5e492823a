import type { MergeMethod } from './method.ts';

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
export type QueuePlaceOfPull = {
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
  readonly base: string;
  readonly number: number;
  readonly head: string;
};

/** Where pull requests enter a merge queue. What they then wait for is not the concern of a rule's run. */
export interface QueueDesk {
  /** Returns whether it is queued, or why it does not enter: it left with this head. Undefined: it may enter. */
  find(pull: QueuePlaceOfPull): Promise<'queued' | { readonly why: string } | undefined>;
  /** Lets it enter; the returned function takes that back. `ask`: the rule, and the delivery that it ran for. */
  enter(
    pull: QueuePlaceOfPull,
    wish: QueueWish,
    ask: { readonly rule: string; readonly delivery?: string | undefined },
  ): Promise<() => Promise<void>>;
  /** Forgets why it left: its rule did not want it for a while. */
  forgive(pull: QueuePlaceOfPull): Promise<void>;
}
