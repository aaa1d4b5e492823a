import { permissionOf, reaches } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import type { CommentRow, IssueRow, PullRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { isBlocked } from '../protections/blockers.ts';
import { loadUsers } from '../views/user.ts';
import { changeState } from './changes.ts';
import { parseReferences, type Reference, withoutCode } from './references.ts';

type ClosingContext = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};
type ReferencedIssue = {
  readonly issue: IssueRow;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
};

/**
 * Closes and reopens the issues that commits ask for, oldest commit first, as far as their pusher may: on the default
 * branch, or on the branch that an issue belongs to. Hooks hear of each with the commit's id.
 */
export function closeByCommits(
  context: ForgeContext,
  place: ClosingContext,
  {
    branch,
    commits,
  }: { branch: string; commits: readonly { readonly id: string; readonly message: string }[] },
): void {
  for (const { id, message } of commits.toReversed()) {
    for (const reference of parseReferences(message)) {
      const named = reference.asks && findNamed(context, place, reference);
      if (!named || !mayClose(context, named, place.actor)) continue;
      const own = named.issue.ref.replace(/^refs\/heads\//, '');
      if (branch !== (own || place.repository.default_branch)) continue;
      settle(context, { ...named, actor: place.actor }, reference.asks, id);
    }
  }
}

/** Closes and reopens the issues that a merged pull request's title, body and comments ask for. */
export function closeByMerge(context: ForgeContext, place: ClosingContext, pull: PullRow): void {
  const { db } = context;
  const issue = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', pull.issue_id);
  if (!issue) return;
  const comments = db.all<CommentRow>('SELECT * FROM comments WHERE issue_id = ? ORDER BY id', issue.id);
  const authors = loadUsers(context, [issue.poster_id, ...comments.map(({ poster_id }) => poster_id)]);
  const wanted = new Map<number, { named: ReferencedIssue; asks: Reference['asks'] }>();
  const read = (text: string, author: UserRow | undefined, isOwnText: boolean): void => {
    for (const reference of parseReferences(text)) {
      const named = reference.asks && findNamed(context, place, reference);
      if (!named || named.issue.is_pull || author === undefined) continue;
      // Who merges answers for what the pull request itself asks of its own repository.
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

function findNamed(
  { db }: ForgeContext,
  { repository, owner }: ClosingContext,
  reference: Reference,
): ReferencedIssue | undefined {
  const [name, rest = ''] = (reference.repository ?? `${owner.lower_name}/${repository.lower_name}`).split(
    '/',
  );
  const holder = db.get<UserRow>('SELECT * FROM users WHERE lower_name = ?', name ?? '');
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?';
  const found = holder && db.get<RepositoryRow>(sql, holder.id, rest);
  const issue =
    found &&
    db.get<IssueRow>('SELECT * FROM issues WHERE repo_id = ? AND number = ?', found.id, reference.number);
  return holder && found && issue ? { issue, repository: found, owner: holder } : undefined;
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
