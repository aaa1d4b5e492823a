import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { QueueWish } from '../../actions/queue-desk.ts';
import { mergeQueueKind } from '../../actions/queue-desk.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { QueueEvent } from '../../store/queue-rows.ts';
import type { NewJob } from '../../store/store.ts';

/**
 * State of one merge queue: plain data, kept in the store. Times are instants in ISO 8601. `entries` are in merge
 * order, and the first one has its turn.
 */
export type QueueState = {
  readonly version: 1;
  readonly entries: readonly QueueEntry[];
  /** Pull requests that left, newest first. Some reasons bar them from entering again (`findBar`). */
  readonly left: readonly LeftPull[];
  /** Writes that may be repeated, stored before they are sent: statuses and comments, oldest first. */
  readonly outbox: readonly QueueWrite[];
  /** An update or a merge that was about to be sent. Its result is read from the forge. */
  readonly attempt?: QueueAttempt | undefined;
  /**
   * Set after a foreign write to the base between a check and a merge. Nothing is merged until the checks of the new
   * base have passed.
   */
  readonly blocked?: BlockedBase | undefined;
  /** Set if a user has paused this queue. */
  readonly paused?: { readonly by: string; readonly at: string } | undefined;
};

/** Merge options of a pull request: the arguments of `queue-merge`, with templates filled in. */
export type QueueRequest = QueueWish;

/**
 * Phase of a pull request. `waiting`: not its turn; `updating`: its turn, and it is not known to contain the base, or
 * the forge has refused an update or a merge; `testing`: it contains the base, and its checks are pending; `ready`: all
 * checks have passed, `reeve/queue` is success, and the merge is next.
 */
export type QueuePhase = 'waiting' | 'updating' | 'testing' | 'ready';

/** A pull request in the queue. */
export type QueueEntry = {
  readonly number: number;
  /** The queued commit. Any other head that we did not create counts as a push. */
  readonly head: string;
  /**
   * Id of the rule that requested the entry, and the delivery for which it is evaluated; absent: for live state only.
   */
  readonly rule: string;
  readonly delivery?: string | undefined;
  readonly request: QueueRequest;
  readonly phase: QueuePhase;
  readonly enteredAt: string;
  /** When the pull request became the first. */
  readonly turnAt?: string | undefined;
  /** Start of the current wait, from which polls are counted. */
  readonly sinceAt?: string | undefined;
  /** Commit of the base that the head contains. */
  readonly contains?: string | undefined;
  /**
   * Contexts of the pull request's statuses when its turn began. They are awaited if the base requires none by name.
   */
  readonly contexts?: readonly string[] | undefined;
  /** Time since which the forge reports the pull request as not mergeable, which it also does before it has checked. */
  readonly unmergeableAt?: string | undefined;
  /** Number of consecutive refusals by the forge to merge or update the pull request. */
  readonly refusals?: number | undefined;
  /** Head on which the status of the turn was written. */
  readonly toldHead?: string | undefined;
  /** Set if a user has requested the removal. */
  readonly removal?: { readonly by: string } | undefined;
  /**
   * Set if the rule was paused at the last look. The pull request then has no turn, and waits after those that
   * continue.
   */
  readonly held?: true | undefined;
};

/** Why a pull request left. */
export type LeaveReason =
  | 'merged'
  | 'merged-elsewhere'
  | 'checks'
  | 'conflict'
  | 'pushed'
  | 'closed'
  | 'retargeted'
  | 'unwanted'
  | 'timeout'
  | 'fork'
  | 'refused'
  | 'removed'
  | 'unserved';

/** A pull request that left the queue without a merge. */
export type LeftPull = {
  readonly number: number;
  readonly head: string;
  readonly reason: LeaveReason;
  readonly at: string;
};

/** A write that may be repeated: the last status of a context counts, and a comment is found by its marker. */
export type QueueWrite =
  | {
      readonly kind: 'status';
      readonly id: string;
      readonly number: number;
      /** The rule that queued the pull request; absent in states of earlier versions. */
      readonly rule?: string | undefined;
      readonly head: string;
      readonly state: 'pending' | 'success' | 'failure' | 'error';
      readonly description: string;
    }
  | {
      readonly kind: 'comment';
      readonly id: string;
      readonly number: number;
      readonly rule?: string | undefined;
      readonly text: string;
    };

/** An update or a merge to send. */
export type QueueAttempt = {
  readonly kind: 'update' | 'merge';
  readonly number: number;
  /** The rule that queued the pull request; absent in states of earlier versions. */
  readonly rule?: string | undefined;
  readonly head: string;
  /** Commit of the base, read immediately before the attempt. */
  readonly base: string;
  readonly at: string;
  /** Set if the forge accepted the attempt, but its result is not visible yet. */
  readonly isAnswered?: true | undefined;
  /**
   * Set if the forge refused the attempt. The next look determines whether an earlier attempt, whose response was lost,
   * was applied.
   */
  readonly refused?: { readonly why: string; readonly isConflict: boolean } | undefined;
};

export type BlockedBase = {
  /** Newest commit of the base at the last look. */
  readonly commit: string;
  readonly since: string;
};

/** Actions to take, in this order. A `look` or `wait` is always the last one. */
export type QueueAction =
  | { readonly kind: 'write'; readonly write: QueueWrite }
  | { readonly kind: 'update'; readonly attempt: QueueAttempt }
  | { readonly kind: 'merge'; readonly attempt: QueueAttempt; readonly request: QueueRequest }
  /** Looks at the queue again immediately. */
  | { readonly kind: 'look' }
  /** Looks at the queue again after this time, or on an event; absent: only on an event. */
  | { readonly kind: 'wait'; readonly afterMs?: number | undefined; readonly why: string };

/** Actions that must not be repeated blindly, so the attempt is stored in the state before it is sent. */
export type QueueAttemptAction = Extract<QueueAction, { kind: 'update' | 'merge' }>;

/** Result of a step: the new state, its events, and the actions to take. It is stored before any action is taken. */
export type QueueStep = {
  readonly state: QueueState;
  readonly events: readonly QueueEvent[];
  readonly actions: readonly QueueAction[];
};

/** State of the checks. `context`: the first check that has not passed. */
export type ChecksSeen = {
  readonly state: 'success' | 'pending' | 'failure' | 'none';
  readonly context?: string | undefined;
};

/** A pull request as read from the forge. */
export type PullSeen = {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly isDraft: boolean;
  readonly head: string;
  /** Target branch of the pull request. */
  readonly base: string;
  readonly isFork: boolean;
  /** Also false until the forge has checked. */
  readonly isMergeable: boolean;
  /**
   * Set once the pull request is merged. `parent`: the base commit of our merge, if the method does not determine it.
   */
  readonly merged?: { readonly isByUs: boolean; readonly parent?: string | undefined } | undefined;
  /** Set if the head is not the queued one: the base commit that our update merged into the queued head. */
  readonly updatedWith?: string | undefined;
  /**
   * Result of the rule: `yes` with the current request, `checks` if only checks keep its conditions false, otherwise
   * the reason.
   */
  readonly wanted:
    | { readonly state: 'yes'; readonly request: QueueRequest }
    | { readonly state: 'checks' }
    | { readonly state: 'no'; readonly why: string };
  /** Whether the head contains the base that the same look has read. Set for the first pull request in the queue. */
  readonly containsBase?: boolean | undefined;
  /** State of the checks on this head. Set for the first pull request in the queue. */
  readonly checks?: ChecksSeen | undefined;
  /** Contexts of the statuses on this head, without our own. */
  readonly contexts?: readonly string[] | undefined;
};

/**
 * A paused rule of the queue: paused by its own name, by its repository, or by a pause of everything. `why` names start
 * and author.
 */
export type HeldRule = { readonly rule: string; readonly why: string };

/** Result of one look. `base` is read after `pull`. */
export type QueueLook = {
  readonly at: Date;
  readonly pull?: PullSeen | undefined;
  /** A pull request that the forge no longer shows. */
  readonly gone?: number | undefined;
  /** Why the first pull request or its base cannot be read, possibly permanently. */
  readonly problem?: string | undefined;
  readonly base?: { readonly commit: string; readonly checks?: ChecksSeen | undefined } | undefined;
  /** Rules whose pull requests currently get no writes. */
  readonly held?: readonly HeldRule[] | undefined;
  /** The forge's response to the attempt, if any. `unsent`: a pause began before the attempt was sent. */
  readonly answer?:
    | { readonly kind: 'taken' }
    | { readonly kind: 'unsent' }
    | { readonly kind: 'refused'; readonly why: string; readonly isConflict: boolean }
    | undefined;
};

/** Observed state of a queue. */
export type QueueObservation = QueueLook & {
  /** The base branch of the queue. */
  readonly branch: string;
};

/** A queue without pull requests. */
export const emptyQueue: QueueState = { version: 1, entries: [], left: [], outbox: [] };

/** Returns the state in a stored row; without a row, an empty queue. */
export function queueStateOf(row: { readonly state: unknown } | undefined): QueueState {
  // Store boundary: only the code in this folder writes these rows.
  return row === undefined ? emptyQueue : (row.state as QueueState);
}

/** Every reason for which a pull request leaves a queue, as text for display. */
export const leaveReasons = {
  merged: 'The queue merged it.',
  'merged-elsewhere': 'It was merged, but not by the queue.',
  checks: 'A required check failed on the head that contains the base.',
  conflict: 'It conflicts with the base.',
  pushed: 'Someone pushed to it.',
  closed: 'It was closed or deleted.',
  retargeted: 'Its target branch was changed.',
  unwanted: 'The conditions of its rule no longer hold, or it is a draft.',
  timeout: 'It was not merged within `timeout` of its turn.',
  fork: 'It is behind the base, and its head is in a fork that Reeve may not update.',
  refused: 'The forge refused to update or merge it three times in a row.',
  removed: 'It was removed manually.',
  unserved: 'Its repository is archived, deleted, or not served any more. Nothing is written there.',
} as const satisfies Readonly<Record<LeaveReason, string>>;

const MergeQueueJob = z.object({
  repository: z.object({ id: z.number(), owner: z.string(), name: z.string() }),
  base: z.string(),
  /** Number of a pull request that an event is about, in addition to the first one. */
  number: z.number().optional(),
  /** Whether an account other than Reeve's pushed to that pull request. */
  pushed: z.boolean().optional(),
});
type MergeQueueJob = z.output<typeof MergeQueueJob>;

/** Parses the payload of the job. */
export function readQueueJob(payload: unknown): MergeQueueJob {
  return MergeQueueJob.parse(payload);
}

/**
 * Returns a job that processes a queue immediately, after an edit or because of an event. Jobs of the same queue run
 * sequentially.
 */
export function queueJob(
  repository: RepositoryRef,
  base: string,
  {
    at,
    ...about
  }: { readonly at: Date; readonly number?: number | undefined; readonly pushed?: boolean | undefined },
): NewJob {
  const { id, owner, name } = repository;
  return {
    door: 'cron',
    uuid: `${mergeQueueKind}#${randomUUID()}`,
    kind: mergeQueueKind,
    lane: `${mergeQueueKind} ${id} ${base}`,
    receivedAt: at,
    payload: { repository: { id, owner, name }, base, ...about } satisfies z.input<typeof MergeQueueJob>,
  };
}
