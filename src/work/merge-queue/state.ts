import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { QueueWish } from '../../actions/queue-desk.ts';
import { mergeQueueKind } from '../../actions/queue-desk.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { QueueEvent } from '../../store/queue-rows.ts';
import type { NewJob } from '../../store/store.ts';

/**
 * The state of one merge queue: plain data, kept in the store. Times are instants in ISO 8601. `entries` is in the order in
 * which the pull requests are merged; the first one has its turn.
 */
export type QueueState = {
  readonly version: 1;
  readonly entries: readonly QueueEntry[];
  /** Pull requests that left, newest first: one of them does not enter again by itself for the same reason. */
  readonly left: readonly LeftPull[];
  /** Writes that may be repeated, stored before they are sent: statuses and comments, oldest first. */
  readonly outbox: readonly QueueWrite[];
  /** An update or a merge that was about to be sent; what became of it is found by looking. */
  readonly attempt?: QueueAttempt | undefined;
  /** Someone wrote to the base between a check and a merge: nothing is merged until the checks of the new base passed. */
  readonly blocked?: BlockedBase | undefined;
  /** A person stopped this queue. */
  readonly paused?: { readonly by: string; readonly at: string } | undefined;
};

/** How a pull request is to be merged: the arguments of `queue-merge`, with templates filled in. */
export type QueueRequest = QueueWish;

/**
 * Where a pull request stands. `waiting`: not its turn; `updating`: its turn, and it is behind the base; `testing`: it contains
 * the base, and its checks are awaited; `ready`: all passed, `reeve/queue` is success, the merge comes next.
 */
export type QueuePhase = 'waiting' | 'updating' | 'testing' | 'ready';

/** A pull request in the queue. */
export type QueueEntry = {
  readonly number: number;
  /** The commit that is queued. Any other head that we did not make is a push. */
  readonly head: string;
  /** Id of the rule that asked, and what its conditions are evaluated for: a delivery, or live state alone. */
  readonly rule: string;
  readonly delivery?: string | undefined;
  readonly request: QueueRequest;
  readonly phase: QueuePhase;
  readonly enteredAt: string;
  /** When it became the first. */
  readonly turnAt?: string | undefined;
  /** Since when it waits for what it waits for now: polls are counted from here. */
  readonly sinceAt?: string | undefined;
  /** Commit of the base that the head contains. */
  readonly contains?: string | undefined;
  /** Contexts of statuses that it had at its turn: they are awaited if the base requires none by name. */
  readonly contexts?: readonly string[] | undefined;
  /** Since when the forge says that it cannot be merged: it says so too until it has checked. */
  readonly unmergeableAt?: string | undefined;
  /** Merges that the forge refused in a row, and its last words. */
  readonly refusals?: number | undefined;
  /** Head on which the status of the turn was written. */
  readonly toldHead?: string | undefined;
  /** A person wants it out. */
  readonly removal?: { readonly by: string } | undefined;
  /** Its rule was paused when it was seen last: it has no turn, and stands behind those that go on. */
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

/** A pull request that left without a merge. */
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

/** An update or a merge, as it is sent. */
export type QueueAttempt = {
  readonly kind: 'update' | 'merge';
  readonly number: number;
  /** The rule that queued the pull request; absent in states of earlier versions. */
  readonly rule?: string | undefined;
  readonly head: string;
  /** The base that was read immediately before. */
  readonly base: string;
  readonly at: string;
  /** The forge took it, and it is not to be seen yet. */
  readonly isAnswered?: true | undefined;
  /** The forge refused it. Whether it has taken an earlier one, whose answer was lost, is seen at the next look. */
  readonly refused?: { readonly why: string; readonly isConflict: boolean } | undefined;
};

export type BlockedBase = {
  /** The newest commit of the base when it was seen. */
  readonly commit: string;
  readonly since: string;
};

/** What is to be done now, in this order; a `look` or `wait` is the last. */
export type QueueAction =
  | { readonly kind: 'write'; readonly write: QueueWrite }
  | { readonly kind: 'update'; readonly attempt: QueueAttempt }
  | { readonly kind: 'merge'; readonly attempt: QueueAttempt; readonly request: QueueRequest }
  /** Look at the queue again at once. */
  | { readonly kind: 'look' }
  /** Look again after this time, or when an event comes; absent: only when an event comes. */
  | { readonly kind: 'wait'; readonly afterMs?: number | undefined; readonly why: string };

/** What may not be repeated blindly: its attempt is in the state before it is sent. */
export type QueueAttemptAction = Extract<QueueAction, { kind: 'update' | 'merge' }>;

/** The result of a step: the new state, what happened, what to do. Stored before anything is done. */
export type QueueStep = {
  readonly state: QueueState;
  readonly events: readonly QueueEvent[];
  readonly actions: readonly QueueAction[];
};

/** How checks stand. `context`: the first that is not passed. */
export type ChecksSeen = {
  readonly state: 'success' | 'pending' | 'failure' | 'none';
  readonly context?: string | undefined;
};

/** A pull request as it was seen. */
export type PullSeen = {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly isDraft: boolean;
  readonly head: string;
  /** Branch that it is to be merged into. */
  readonly base: string;
  readonly isFork: boolean;
  /** False also while the forge has not checked. */
  readonly isMergeable: boolean;
  /** Set once it is merged. `parent`: what our merge was made on, where the method leaves that to be seen. */
  readonly merged?: { readonly isByUs: boolean; readonly parent?: string | undefined } | undefined;
  /** Where the head is not the queued one: the base commit that was merged into the queued one by our update. */
  readonly updatedWith?: string | undefined;
  /** Its rule: `yes` with what it asks for now, `checks` if only checks keep its conditions from holding, else why not. */
  readonly wanted:
    | { readonly state: 'yes'; readonly request: QueueRequest }
    | { readonly state: 'checks' }
    | { readonly state: 'no'; readonly why: string };
  /** Whether the head contains the base as seen beside it; known for the first in the queue. */
  readonly containsBase?: boolean | undefined;
  /** Checks on this head; known for the first in the queue. */
  readonly checks?: ChecksSeen | undefined;
  /** Contexts of the statuses on this head, ours left out. */
  readonly contexts?: readonly string[] | undefined;
};

/** A rule of the queue that is paused, by its own name or with its repository or all; `why` says since when and by whom. */
export type HeldRule = { readonly rule: string; readonly why: string };

/** What a look has seen at once. `base` is read after `pull`. */
export type QueueLook = {
  readonly at: Date;
  readonly pull?: PullSeen | undefined;
  /** A pull request that the forge does not show any more. */
  readonly gone?: number | undefined;
  /** Why the first pull request or its base cannot be looked at, and may never be. */
  readonly problem?: string | undefined;
  readonly base?: { readonly commit: string; readonly checks?: ChecksSeen | undefined } | undefined;
  /** Rules whose pull requests nothing may be written for now. */
  readonly held?: readonly HeldRule[] | undefined;
  /** The forge's answer to the attempt, where there is one. `unsent`: a pause began before it was sent. */
  readonly answer?:
    | { readonly kind: 'taken' }
    | { readonly kind: 'unsent' }
    | { readonly kind: 'refused'; readonly why: string; readonly isConflict: boolean }
    | undefined;
};

/** What was seen of a queue. */
export type QueueObservation = QueueLook & {
  /** The base branch of the queue. */
  readonly branch: string;
};

/** A queue without pull requests. */
export const emptyQueue: QueueState = { version: 1, entries: [], left: [], outbox: [] };

/** Reads a state from the store; undefined is an empty queue. */
export function queueStateOf(row: { readonly state: unknown } | undefined): QueueState {
  // The border to the store: what is in these rows was written by this folder alone.
  return row === undefined ? emptyQueue : (row.state as QueueState);
}

/** Every reason for which a pull request leaves a queue, as people read it. */
export const leaveReasons = {
  merged: 'The queue merged it.',
  'merged-elsewhere': 'It was merged, and not by the queue.',
  checks: 'A required check failed on the head that contains the base.',
  conflict: 'It conflicts with the base.',
  pushed: 'Someone pushed to it.',
  closed: 'It was closed or deleted.',
  retargeted: 'It is to be merged into another branch.',
  unwanted: 'The conditions of its rule no longer hold, or it is a draft.',
  timeout: 'It was not merged within `timeout` of its turn.',
  fork: 'It is behind the base, and its head is in a fork that Reeve may not update.',
  refused: 'The forge refused to update or merge it three times in a row.',
  removed: 'A person removed it.',
  unserved: 'Its repository is archived, deleted, or not served any more. Nothing is written there.',
} as const satisfies Readonly<Record<LeaveReason, string>>;

const MergeQueueJob = z.object({
  repository: z.object({ id: z.number(), owner: z.string(), name: z.string() }),
  base: z.string(),
  /** A pull request that something happened to, beside the first. */
  number: z.number().optional(),
  /** Someone else than Reeve pushed to that pull request. */
  pushed: z.boolean().optional(),
});
type MergeQueueJob = z.output<typeof MergeQueueJob>;

/** Reads the payload of the job. */
export function readQueueJob(payload: unknown): MergeQueueJob {
  return MergeQueueJob.parse(payload);
}

/** Returns a job that looks at a queue now: after an edit, or for an event. Jobs of one queue run one after the other. */
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
