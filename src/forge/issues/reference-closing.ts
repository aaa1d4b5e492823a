import { loadUsers } from '../accounts/users-rows.ts';
import { isBlockedIn, permissionOf, reaches } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { changeState, touchIssue } from './changes.ts';
import type { CommentRow } from './comments-rows.ts';
import {
  findReferenced,
  parseReferences,
  type Reference,
  type ReferencedIssue,
  withoutCode,
} from './cross-references.ts';
import { isBlocked } from './dependencies-service.ts';
import { recordEvent } from './timeline-rows.ts';

type ClosingContext = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};
/**
 * Closes and reopens the issues to which commit messages refer with a keyword, oldest commit first, if the pusher may
 * do so. A commit counts only on the branch set for the issue or, if none is set, on the default branch. Each webhook
 * contains the id of the commit.
 */
export function closeByCommits(
  context: ForgeContext,
  place: ClosingContext,
  {
    branch,
    commits,
  }: { branch: string; commits: readonly { readonly id: string; readonly message: string }[] },
): void {
  for (const commit of commits.toReversed()) {
    const seen = new Set<string>();
    for (const reference of parseReferences(commit.message)) {
      const named = findReferenced(context, place, reference);
      const key = `${named?.issue.id} ${reference.asks}`;
      if (!named || seen.has(key)) continue;
      seen.add(key);
      if (!noteCommit(context, place, named, commit)) continue;
      if (reference.asks === undefined || !mayClose(context, named, place.actor)) continue;
      const own = named.issue.ref.replace(/^refs\/heads\//, '');
      if (branch !== (own || place.repository.default_branch)) continue;
      settle(context, { ...named, actor: place.actor }, reference.asks, commit.id);
    }
  }
}

/**
 * Records in the timeline of an issue, once per commit, that the commit refers to the issue. Returns false if the
 * pusher cannot read the issue or is blocked, or if the issue is the pull request that the commit merged.
 */
function noteCommit(
  context: ForgeContext,
  { repository, owner, actor }: ClosingContext,
  named: ReferencedIssue,
  { id, message }: { readonly id: string; readonly message: string },
): boolean {
  const { db } = context;
  const { issue } = named;
  const unit = issue.is_pull ? 'pulls' : 'issues';
  const isReadable = reaches(permissionOf(db, actor, named.repository, named.owner, unit), 'read');
  const merged = 'SELECT 1 AS one FROM pulls WHERE issue_id = ? AND is_merged = 1 AND merged_commit_sha = ?';
  if (!isReadable || db.get(merged, issue.id, id) !== undefined) return false;
  const noted = `SELECT 1 AS one FROM timeline WHERE issue_id = ? AND type = 'commit_ref'
    AND json_extract(refers, '$.refCommit') = ?`;
  if (isBlockedIn(db, { repository, owner, actor }, issue)) return false;
  if (db.get(noted, issue.id, id) !== undefined) return true;
  const title = escapeText(message.split('\n')[0] ?? '');
  const body = `<a href="/${owner.name}/${repository.name}/commit/${id}">${title}</a>`;
  recordEvent(context, { issueId: issue.id, actor }, { type: 'commit_ref', body, refers: { refCommit: id } });
  touchIssue(context, issue.id);
  return true;
}

function escapeText(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&#34;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** Closes and reopens the issues to which a merged pull request's title, body and comments refer with a keyword. */
export function closeByMerge(context: ForgeContext, place: ClosingContext, pull: PullRow): void {
  const { db } = context;
  const issue = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', pull.issue_id);
  if (!issue) return;
  const comments = db.all<CommentRow>('SELECT * FROM comments WHERE issue_id = ? ORDER BY id', issue.id);
  const authors = loadUsers(context, [issue.poster_id, ...comments.map(({ poster_id }) => poster_id)]);
  const wanted = new Map<number, { named: ReferencedIssue; asks: Reference['asks'] }>();
  const read = (text: string, author: UserRow | undefined, isOwnText: boolean): void => {
    for (const reference of parseReferences(text)) {
      const named = reference.asks && findReferenced(context, place, reference);
      if (!named || named.issue.is_pull || author === undefined) continue;
      // For references from the title or body of the pull request to its own repository, the permissions of the merging
      // account decide.
      const isMergers = isOwnText && named.repository.id === place.repository.id;
      if (!isMergers && !mayClose(context, named, author)) continue;
      wanted.set(named.issue.id, { named, asks: reference.asks });
    }
  };
  read(issue.title, authors.get(issue.poster_id), true);
  read(withoutCode(issue.body), authors.get(issue.poster_id), true);
  for (const { body, poster_id } of comments) read(withoutCode(body), authors.get(poster_id), false);
  for (const { named, asks } of wanted.values()) {
    settle(context, { ...named, actor: place.actor }, asks, pull.merged_commit_sha);
  }
}

function mayClose(
  { db }: ForgeContext,
  { issue, repository, owner }: ReferencedIssue,
  user: UserRow,
): boolean {
  if (issue.is_pull) return false;
  return issue.poster_id === user.id || reaches(permissionOf(db, user, repository, owner, 'issues'), 'write');
}

function settle(
  context: ForgeContext,
  { issue, repository, owner, actor }: ReferencedIssue & { readonly actor: UserRow },
  asks: Reference['asks'],
  commitId: string,
): void {
  if (asks === 'close' && isBlocked(context, repository, issue.id)) return;
  const scene = { issueId: issue.id, repository, owner, actor };
  changeState(context, scene, asks === 'close' ? 'closed' : 'open', commitId);
}
