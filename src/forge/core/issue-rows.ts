import type { Database } from './database.ts';
import { found } from './errors.ts';
import type { Bit, Seconds } from './rows.ts';

/** The rows of issues and pull requests and of what belongs to them, as `rows.ts` describes rows. */

/** A label of a repository or of an organization. */
export type LabelRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly org_id: number | null;
  readonly name: string;
  /** Six hex digits, lower case, no `#`. */
  readonly color: string;
  readonly description: string;
  readonly exclusive: Bit;
  readonly archived_at: Seconds;
  readonly num_issues: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A milestone; its counters are kept by triggers. */
export type MilestoneRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly title: string;
  readonly description: string;
  readonly is_closed: Bit;
  readonly num_open: number;
  readonly num_closed: number;
  readonly due_at: Seconds;
  readonly closed_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** An issue, or the issue side of a pull request. */
export type IssueRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly number: number;
  readonly is_pull: Bit;
  readonly poster_id: number;
  readonly title: string;
  readonly body: string;
  readonly ref: string;
  readonly is_closed: Bit;
  readonly is_locked: Bit;
  readonly milestone_id: number | null;
  readonly num_comments: number;
  readonly content_version: number;
  readonly time_estimate: number;
  readonly pin_order: number;
  readonly due_at: Seconds;
  readonly closed_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A comment on an issue or pull request. */
export type CommentRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly issue_id: number;
  readonly poster_id: number;
  readonly body: string;
  readonly content_version: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** The pull-request side of an issue; `id` is the pull request's API id. */
export type PullRow = {
  readonly id: number;
  readonly issue_id: number;
  /** The base repository. */
  readonly repo_id: number;
  readonly number: number;
  readonly base_branch: string;
  /** Where the base branch is now. */
  readonly base_sha: string;
  readonly head_repo_id: number | null;
  readonly head_branch: string;
  readonly head_sha: string;
  /** 1: the head was pushed for review (AGit) and is no branch; `head_branch` is then `account/topic`. */
  readonly flow: Bit;
  /** The head branch was removed. */
  readonly is_head_gone: Bit;
  readonly merge_base: string;
  readonly status: 'checking' | 'mergeable' | 'conflict' | 'error';
  readonly is_merged: Bit;
  readonly merged_commit_sha: string;
  readonly merged_at: Seconds;
  readonly merger_id: number | null;
  readonly allow_maintainer_edit: Bit;
  readonly additions: number;
  readonly deletions: number;
  readonly changed_files: number;
};

/** Time tracked on an issue; a removed entry stays, marked. */
export type TrackedTimeRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly repo_id: number;
  readonly user_id: number;
  /** Seconds. */
  readonly time: number;
  readonly is_deleted: Bit;
  readonly created_at: Seconds;
};

/** A file on an issue, or on a comment of it; its bytes lie in the attachment store under `uuid`. */
export type AttachmentRow = {
  readonly id: number;
  readonly uuid: string;
  readonly repo_id: number;
  readonly issue_id: number;
  readonly comment_id: number | null;
  readonly uploader_id: number;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly num_downloads: number;
  readonly created_at: Seconds;
};

/** A review of a pull request, or the request for one. */
export type ReviewRow = {
  readonly id: number;
  readonly issue_id: number;
  /** Null where a team was asked. */
  readonly reviewer_id: number | null;
  readonly team_id: number | null;
  readonly type: 'PENDING' | 'COMMENT' | 'APPROVED' | 'REQUEST_CHANGES' | 'REQUEST_REVIEW';
  readonly body: string;
  readonly commit_id: string;
  readonly official: Bit;
  readonly stale: Bit;
  readonly dismissed: Bit;
  /** What the last dismissal said. */
  readonly dismissal: string;
  /** Its place in the discussion, counted with the comments; 0 for a request. */
  readonly comment_id: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A comment on a line; below 0 the line of the old file. */
export type ReviewCommentRow = {
  readonly id: number;
  readonly review_id: number;
  readonly repo_id: number;
  readonly poster_id: number;
  readonly body: string;
  readonly path: string;
  readonly line: number;
  readonly commit_id: string;
  readonly diff_hunk: string;
  readonly resolver_id: number | null;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** What an entry of the timeline refers to: ids of rows, or names as they were then. */
export type TimelineReferences = {
  readonly label?: number;
  readonly milestone?: number;
  readonly oldMilestone?: number;
  readonly assignee?: number;
  readonly assigneeTeam?: number;
  /** An assignment or a request that is taken back. */
  readonly isRemoved?: true;
  readonly review?: number;
  readonly dependency?: number;
  readonly time?: number;
  /** The issue that refers to this one, and the comment of it where it is a comment that does. */
  readonly refIssue?: number;
  readonly refComment?: number;
  /** Absent: none. `neutered`: the text no longer refers to this issue. */
  readonly refAction?: 'none' | 'closes' | 'reopens' | 'neutered';
  readonly refCommit?: string;
  readonly oldTitle?: string;
  readonly newTitle?: string;
  readonly oldRef?: string;
  readonly newRef?: string;
};

/** An event in the course of an issue or pull request, or a review; `timeline.ts` in `events` writes them. */
export type TimelineRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly poster_id: number;
  readonly type: string;
  readonly body: string;
  /** JSON: `TimelineReferences`. */
  readonly refers: string;
  readonly created_at: Seconds;
};

/** The reaction of an account to an issue, a pull request or a comment. */
export type ReactionRow = {
  readonly id: number;
  readonly issue_id: number;
  /** 0 for the issue itself. */
  readonly comment_id: number;
  readonly user_id: number;
  readonly content: string;
  readonly created_at: Seconds;
};

/**
 * Takes the next id of the comments: reviews, their comments and the entries of the timeline
 * are counted with the comments of issues.
 */
export function takeCommentId(db: Database): number {
  db.run(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'comments', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'comments')`,
  );
  const sql = `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'comments' RETURNING seq`;
  return found(db.get<{ seq: number }>(sql)).seq;
}
