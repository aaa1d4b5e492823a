import { loadUsers } from '../accounts/users-rows.ts';
import { issueAddress, loadHomes, type OwnedRepository } from '../issues/issues-rows.ts';
import { canSee } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, PullRow, Seconds, UserRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';

/** An account's notification thread about an issue, a pull request, a commit or a repository. */
export type NotificationRow = {
  readonly id: number;
  readonly user_id: number;
  readonly repo_id: number;
  readonly source: 'issue' | 'pull' | 'commit' | 'repository';
  readonly status: 'unread' | 'read' | 'pinned';
  readonly issue_id: number | null;
  readonly commit_sha: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

type LoadedThreads = ReturnType<typeof load>;

/** Returns threads as the API shows them, in the given order; their subjects are loaded in one batch. */
export function toThreads(context: ForgeContext, rows: readonly NotificationRow[]) {
  const loaded = load(context, rows);
  const repositoryOf = createRepositoryShapes(context, loaded);
  return rows.map((row) => {
    const home = loaded.homes.get(row.repo_id);
    const repository = repositoryOf(row);
    return {
      id: row.id,
      // An account that lost access keeps the thread, but without any details.
      repository,
      subject: home && repository ? toSubject(context, row, { home, loaded }) : null,
      unread: row.status === 'unread',
      pinned: row.status === 'pinned',
      updated_at: toInstant(row.updated_at),
      url: `${context.rootUrl()}/api/v1/notifications/threads/${row.id}`,
    };
  });
}

function load(context: ForgeContext, rows: readonly NotificationRow[]) {
  const { db } = context;
  const ids = JSON.stringify(rows.flatMap(({ issue_id }) => issue_id ?? []));
  const among = 'IN (SELECT value FROM json_each(?))';
  const issues = db.all<IssueRow>(`SELECT * FROM issues WHERE id ${among}`, ids);
  const merged = db.all<PullRow>(`SELECT * FROM pulls WHERE is_merged = 1 AND issue_id ${among}`, ids);
  const comments = db.all<{ id: number; issue_id: number }>(
    `SELECT max(id) AS id, issue_id FROM comments WHERE issue_id ${among} GROUP BY issue_id`,
    ids,
  );
  return {
    homes: loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id),
    ),
    users: loadUsers(
      context,
      rows.map(({ user_id }) => user_id),
    ),
    issues: new Map(issues.map((issue) => [issue.id, issue])),
    merged: new Set(merged.map(({ issue_id }) => issue_id)),
    comments: new Map(comments.map(({ id, issue_id }) => [issue_id, id])),
  };
}

/**
 * Returns a function that returns the repository of a thread, without permissions; null if the thread's account cannot
 * read it.
 */
function createRepositoryShapes(context: ForgeContext, { homes, users }: LoadedThreads) {
  const make = (home: OwnedRepository | undefined, user: UserRow | undefined) => {
    if (!home || !user) return null;
    if (!canSee(context.db, user, home.repository, home.owner)) return null;
    const { permissions: _, ...shape } = toRepository(context, home.repository, {
      owner: home.owner,
      viewer: user,
    });
    return shape;
  };
  const known = new Map<string, ReturnType<typeof make>>();
  return ({ repo_id, user_id }: NotificationRow) => {
    const key = `${repo_id} ${user_id}`;
    const shape = known.has(key) ? (known.get(key) ?? null) : make(homes.get(repo_id), users.get(user_id));
    known.set(key, shape);
    return shape;
  };
}

function toSubject(
  context: ForgeContext,
  row: NotificationRow,
  { home, loaded }: { home: OwnedRepository; loaded: LoadedThreads },
) {
  const name = `${home.owner.name}/${home.repository.name}`;
  const web = `${context.rootUrl()}/${name}`;
  const quiet = { latest_comment_url: '', latest_comment_html_url: '', state: '' };
  if (row.source === 'repository') {
    // A relative path, as in Gitea, which keeps it for compatibility.
    return { ...quiet, type: 'Repository' as const, title: name, url: `/${name}`, html_url: web };
  }
  if (row.source === 'commit') {
    const url = `${web}/commit/${row.commit_sha}`;
    return { ...quiet, type: 'Commit' as const, title: row.commit_sha, url, html_url: url };
  }
  const type = row.source === 'pull' ? ('Pull' as const) : ('Issue' as const);
  const issue = row.issue_id === null ? undefined : loaded.issues.get(row.issue_id);
  if (!issue) return { ...quiet, type, title: '', url: '', html_url: '' };
  const api = `${context.rootUrl()}/api/v1/repos/${name}/issues`;
  const html_url = issueAddress(context, issue, { ...home, viewer: undefined });
  const comment = loaded.comments.get(issue.id);
  const state = issue.is_closed ? 'closed' : 'open';
  return {
    type,
    title: issue.title,
    url: `${api}/${issue.number}`,
    html_url,
    latest_comment_url: comment === undefined ? '' : `${api}/comments/${comment}`,
    latest_comment_html_url: comment === undefined ? '' : `${html_url}#issuecomment-${comment}`,
    state: loaded.merged.has(issue.id) ? 'merged' : state,
  };
}
