import type { ForgeContext } from '../platform/context.ts';
import type { Seconds } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

/** Type of an account's activity in a repository, by Gitea's name. */
type ActivityType =
  | 'create_repo'
  | 'rename_repo'
  | 'transfer_repo'
  | 'commit_repo'
  | 'push_tag'
  | 'delete_tag'
  | 'delete_branch'
  | 'create_issue'
  | 'close_issue'
  | 'reopen_issue'
  | 'comment_issue'
  | 'create_pull_request'
  | 'close_pull_request'
  | 'reopen_pull_request'
  | 'merge_pull_request'
  | 'comment_pull'
  | 'approve_pull_request'
  | 'reject_pull_request'
  | 'publish_release';

export type ActivityRow = {
  readonly id: number;
  readonly actor_id: number;
  readonly repo_id: number;
  readonly type: ActivityType;
  readonly ref: string;
  readonly content: string;
  /** Id of a comment, 0 for none. */
  readonly comment_id: number;
  readonly created_at: Seconds;
};

type NewActivity = {
  readonly repositoryId: number;
  readonly actorId: number;
  readonly type: ActivityType;
  /** Full name of a branch or tag. */
  readonly ref?: string;
  /** `NUMBER|TEXT` for an issue or pull request, JSON for a push, otherwise a text. */
  readonly content?: string;
  readonly commentId?: number;
};

/** Maximum size of the corresponding column in Gitea. */
const longestContent = 65_535;

/**
 * Records an account's activity in a repository for the feeds of the account, of the organization that owns the
 * repository, and of the watchers. Runs inside the caller's transaction. Read access is checked when a feed is read.
 */
export function recordActivity(
  { db, clock }: Pick<ForgeContext, 'db' | 'clock'>,
  activity: NewActivity,
): void {
  const { repositoryId, actorId, type, ref = '', content = '', commentId = 0 } = activity;
  const { lastId } = db.run(
    'INSERT INTO activities (actor_id, repo_id, type, ref, content, comment_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    actorId,
    repositoryId,
    type,
    ref,
    shortenContent(content),
    commentId,
    secondsOf(clock()),
  );
  db.run(
    `INSERT INTO activity_receivers (user_id, activity_id) SELECT ?1, ?2
     UNION SELECT o.id, ?2 FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.id = ?3 AND o.type = 'organization'
     UNION SELECT user_id, ?2 FROM watches WHERE repo_id = ?3`,
    actorId,
    lastId,
    repositoryId,
  );
}

/** Truncates text; replaces JSON that is too long with an empty object, because truncated JSON would be invalid. */
function shortenContent(content: string): string {
  if (content.length <= longestContent) return content;
  return content.startsWith('{"') ? '{}' : `${content.slice(0, longestContent - 1)}…`;
}

const longestComment = 200;

/** Returns the content of an activity about an issue or pull request: its number and the beginning of a text. */
export function numberedContent(number: number, text: string): string {
  const signs = [...text.slice(0, 4 * longestComment)];
  const beginning = signs.length > longestComment ? `${signs.slice(0, longestComment - 1).join('')}…` : text;
  return `${number}|${beginning}`;
}
