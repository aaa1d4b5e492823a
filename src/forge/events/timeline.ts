import type { ForgeContext } from '../core/context.ts';
import { type TimelineReferences, takeCommentId } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';

type TimelineEvent = {
  /** Gitea's word for the kind: `close`, `review_request`. */
  readonly type: string;
  readonly body?: string;
  readonly refers?: TimelineReferences;
  /** Default: the next one of the comments. */
  readonly id?: number;
};

/** Adds an event to the timeline of an issue or pull request. No webhook is sent for it: the change itself sends its own. */
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
