import { isDraftTitle } from '../issues/issues-rows.ts';
import { isBlockedBy, permissionOf, reaches } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

type MentionContext = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** Matches `@name` and `@organization/team` between delimiters, so that an e-mail address is not a mention. */
const mention = /(?<=\s|^|\(|\[)@([-\w][-.\w]*?(?:\/[-\w][-.\w]*?)?)(?=\s|$|[:,;.?!](?:\s|$)|'|\)|\])/g;

/** Maximum number of names per text that are looked up in the database. */
const maxNames = 50;

/**
 * Returns the names mentioned in a text, in lower case and without duplicates: accounts, and teams as
 * `organization/team`.
 */
export function parseMentions(text: string): readonly string[] {
  const names = [...text.matchAll(mention)].map(([, name = '']) => name.toLowerCase());
  return [...new Set(names)].slice(0, maxNames);
}

/**
 * Returns the ids of the accounts mentioned in a text, regardless of their access, without the author and accounts that
 * block the author.
 */
function findMentioned(
  { db }: ForgeContext,
  place: MentionContext,
  text: string,
  author: UserRow,
): readonly number[] {
  const names = JSON.stringify(parseMentions(text));
  const people = db.all<UserRow>(
    `SELECT * FROM users WHERE lower_name IN (SELECT value FROM json_each(?)) AND type = 'user'
       AND is_active = 1 AND prohibit_login = 0`,
    names,
  );
  const members = db.all<UserRow>(
    `SELECT u.* FROM teams t JOIN team_members m ON m.team_id = t.id JOIN users u ON u.id = m.user_id
     WHERE t.org_id = ?1 AND t.lower_name IN (
         SELECT substr(value, length(?2) + 2) FROM json_each(?3) WHERE substr(value, 1, length(?2) + 1) = ?2 || '/')
       AND (t.includes_all_repositories = 1
         OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?4))
       AND u.is_active = 1 AND u.prohibit_login = 0`,
    place.owner.id,
    place.owner.lower_name,
    names,
    place.repository.id,
  );
  const ids = [...people, ...members].map(({ id }) => id);
  const wanted = [...new Set(ids)].filter((id) => id !== author.id);
  return author.is_admin ? wanted : wanted.filter((id) => !isBlockedBy(db, author, [id]));
}

/**
 * The functions below create notification threads. Each account has one thread per issue or pull request. New activity
 * marks a read thread as unread, keeps a pinned thread pinned, and moves the thread to the front. Everything runs
 * inside the caller's transaction.
 */

type ThreadRepository = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** An action of an account on an issue or pull request. */
type ThreadNews = ThreadRepository & {
  readonly issueId: number;
  /** The acting account, which is never notified. */
  readonly actor: UserRow;
};

/**
 * Notifies accounts of a comment, a review, a state change or a push: all participants of the issue or pull request
 * (author, commenters, reviewers, subscribers), watchers of its repository, and accounts that `text` mentions. An
 * account that unsubscribed is notified only of mentions; watchers of the repository are not notified of drafts.
 */
export function notifyActivity(context: ForgeContext, news: ThreadNews & { readonly text?: string }): void {
  const issue = readIssue(context, news.issueId);
  const mentioned = findMentioned(context, news, news.text ?? '', news.actor);
  const isQuiet = issue.is_pull === 1 && isDraftTitle(issue.title);
  write(context, news, issue, [...audienceOf(context, issue, { isQuiet, actor: news.actor }), ...mentioned]);
}

/**
 * Notifies accounts of a new issue or pull request: watchers (even of a draft), and accounts that its body mentions.
 */
export function notifyOpened(context: ForgeContext, news: ThreadNews): void {
  const issue = readIssue(context, news.issueId);
  const mentioned = findMentioned(context, news, issue.body, news.actor);
  write(context, news, issue, [
    ...audienceOf(context, issue, { isQuiet: false, actor: news.actor }),
    ...mentioned,
  ]);
}

/** Notifies the given accounts of an assignment or a review request, except the actor. */
export function notifyPersons(
  context: ForgeContext,
  news: ThreadNews & { readonly receivers: readonly Pick<UserRow, 'id'>[] },
): void {
  const ids = news.receivers.map(({ id }) => id).filter((id) => id !== news.actor.id);
  write(context, news, readIssue(context, news.issueId), ids);
}

/**
 * Notifies accounts that a repository needs their decision, for example on a transfer. Each call creates new threads.
 */
export function notifyOfRepository(
  context: ForgeContext,
  news: { readonly repository: RepositoryRow; readonly receivers: readonly Pick<UserRow, 'id'>[] },
): void {
  const now = secondsOf(context.clock());
  for (const { id } of news.receivers) {
    context.db.run(
      `INSERT INTO notifications (user_id, repo_id, source, created_at, updated_at) VALUES (?, ?, 'repository', ?, ?)`,
      id,
      news.repository.id,
      now,
      now,
    );
  }
}

const audience = /* sql */ `
SELECT user_id AS id FROM issue_watches WHERE issue_id = :issue AND is_watching = 1
UNION SELECT user_id FROM watches WHERE repo_id = :repository AND :quiet = 0
UNION SELECT poster_id FROM comments WHERE issue_id = :issue
UNION SELECT poster_id FROM issues WHERE id = :issue
UNION SELECT reviewer_id FROM reviews WHERE issue_id = :issue AND type IN ('APPROVED', 'REQUEST_CHANGES', 'COMMENT')
EXCEPT SELECT user_id FROM issue_watches WHERE issue_id = :issue AND is_watching = 0
EXCEPT SELECT :actor`
  .replaceAll(':issue', '?1')
  .replaceAll(':repository', '?2')
  .replaceAll(':quiet', '?3')
  .replaceAll(':actor', '?4');

function audienceOf(
  { db }: ForgeContext,
  issue: IssueRow,
  { isQuiet, actor }: { isQuiet: boolean; actor: UserRow },
): readonly number[] {
  const rows = db.all<{ id: number }>(audience, issue.id, issue.repo_id, isQuiet, actor.id);
  return rows.map(({ id }) => id);
}

/**
 * Creates or updates the threads of the receivers. Accounts that cannot read the issue, or no longer can, get no
 * notification.
 */
function write(
  context: ForgeContext,
  place: ThreadRepository,
  issue: IssueRow,
  receivers: readonly number[],
): void {
  const { db, clock } = context;
  const { repository, owner } = place;
  const settings = settingsOf(repository);
  if (!(issue.is_pull ? settings.has_pull_requests : settings.has_issues)) return;
  const unit = issue.is_pull ? 'pulls' : 'issues';
  const now = secondsOf(clock());
  for (const id of new Set(receivers)) {
    const user = db.get<UserRow>('SELECT * FROM users WHERE id = ?', id);
    if (!user || !reaches(permissionOf(db, user, repository, owner, unit), 'read')) continue;
    db.run(
      `INSERT INTO notifications (user_id, repo_id, source, issue_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (issue_id, user_id) WHERE issue_id IS NOT NULL DO UPDATE SET updated_at = excluded.updated_at,
         status = CASE status WHEN 'read' THEN 'unread' ELSE status END`,
      id,
      issue.repo_id,
      issue.is_pull ? 'pull' : 'issue',
      issue.id,
      now,
      now,
    );
  }
}

function readIssue({ db }: ForgeContext, id: number): IssueRow {
  const issue = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', id);
  if (!issue) throw new TypeError(`issue ${id} is missing while its notifications are created`);
  return issue;
}

/** Marks an account's notifications about an issue as read, because the account has acted on the issue. */
export function markIssueRead({ db, clock }: ForgeContext, userId: number, issueId: number): void {
  const now = secondsOf(clock());
  const sql = `UPDATE notifications SET status = 'read', updated_at = ? WHERE user_id = ? AND issue_id = ? AND status = 'unread'`;
  db.run(sql, now, userId, issueId);
}
