import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { found } from '../platform/errors.ts';
import type { Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

/** References of a timeline entry: row ids, or names at the time of the event. */
export type TimelineReferences = {
  readonly label?: number;
  readonly milestone?: number;
  readonly oldMilestone?: number;
  readonly assignee?: number;
  readonly assigneeTeam?: number;
  /** Set for a removed assignment or a withdrawn review request. */
  readonly isRemoved?: true;
  readonly review?: number;
  readonly dependency?: number;
  readonly time?: number;
  /** The issue that refers to this one, and the comment if the reference is in a comment. */
  readonly refIssue?: number;
  readonly refComment?: number;
  /** Absent means `none`. `neutered`: the text no longer refers to this issue. */
  readonly refAction?: 'none' | 'closes' | 'reopens' | 'neutered';
  readonly refCommit?: string;
  readonly oldTitle?: string;
  readonly newTitle?: string;
  readonly oldRef?: string;
  readonly newRef?: string;
};

/** An event in the timeline of an issue or pull request, or a review; `recordEvent` writes these rows. */
export type TimelineRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly poster_id: number;
  readonly type: string;
  readonly body: string;
  /** `TimelineReferences` as JSON. */
  readonly refers: string;
  readonly created_at: Seconds;
};

/** Takes the next comment id: reviews, their comments and timeline entries share the sequence of issue comments. */
export function takeCommentId(db: Database): number {
  db.run(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'comments', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'comments')`,
  );
  const sql = `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'comments' RETURNING seq`;
  return found(db.get<{ seq: number }>(sql)).seq;
}

type TimelineEvent = {
  /** Gitea's name for the kind of event, such as `close` or `review_request`. */
  readonly type: string;
  readonly body?: string;
  readonly refers?: TimelineReferences;
  /** Id of the entry. Default: the next comment id. */
  readonly id?: number;
};

/**
 * Adds an event to the timeline of an issue or pull request. Sends no webhook; the code that makes the change sends it.
 */
export function recordEvent(
  { db, clock }: ForgeContext,
  { issueId, actor }: { readonly issueId: number; readonly actor: UserRow },
  { type, body = '', refers = {}, id }: TimelineEvent,
): void {
  db.run(
    'INSERT INTO timeline (id, issue_id, poster_id, type, body, refers, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    id ?? takeCommentId(db),
    issueId,
    actor.id,
    type,
    body,
    JSON.stringify(refers),
    secondsOf(clock()),
  );
}
