import { permissionOf, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { defaultLimit } from '../platform/paging.ts';
import type { IssueRow, Permission, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { readIssueRow, touchIssue } from './changes.ts';
import { hasDependencies } from './dependencies-service.ts';
import { loadHomes, type OwnedRepository, toIssue, toIssuesById } from './issues-rows.ts';
import { recordEvent } from './timeline-rows.ts';

type DependencyTarget = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};
type DependencyWrite = DependencyTarget & {
  readonly caller: UserRow;
  readonly body: { readonly index: number; readonly owner: string; readonly repo: string };
};
/** An issue with its repository and the caller's permission. */
type End = OwnedRepository & { readonly issue: IssueRow; readonly permission: Permission };

const sameRepositoryFirst = 'CASE WHEN i.repo_id = ? THEN 0 ELSE i.repo_id END, i.created_at DESC, i.id';

/** Returns the issue in the path (`here`) and the issue in the body (`named`), which may be in another repository. */
function findEnds(call: DependencyWrite): { readonly named: End; readonly here: End } {
  const { context, body, repository, owner, permission, caller } = call;
  const here = { issue: findIssue(call), repository, owner, permission };
  const isHere = body.owner === owner.name && body.repo === repository.name;
  if (!isHere && !context.features.crossRepositoryDependencies) {
    throw new ForgeProblem(400, 'CrossRepositoryDependencies not enabled', 'text');
  }
  const home = isHere ? { repository, owner } : findHome(context, body.owner, body.repo);
  const sql = 'SELECT * FROM issues WHERE repo_id = ? AND number = ?';
  const issue = found(context.db.get<IssueRow>(sql, home.repository.id, body.index));
  const theirs = permissionOf(context.db, caller, home.repository, home.owner, unitOfIssue(issue));
  return { here, named: { ...home, issue, permission: theirs } };
}

function findHome({ db }: ForgeContext, ownerName: string, name: string): OwnedRepository {
  const owner = found(userNamed(db, ownerName));
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?';
  return { owner, repository: found(db.get<RepositoryRow>(sql, owner.id, name.toLowerCase())) };
}

/** Ends the request with 404 if the change is not allowed, whatever the reason. */
function assertCanChange(waiting: End, blocker: End): void {
  const isOpen = waiting.repository.archived_at === 0 && hasDependencies(waiting.repository);
  const isAllowed = reaches(waiting.permission, 'write') && reaches(blocker.permission, 'read');
  if (!isOpen || !isAllowed) throw new ForgeProblem(404, 'not found');
}

function add(call: DependencyWrite, waiting: End, blocker: End): void {
  assertCanChange(waiting, blocker);
  const { context, caller } = call;
  const has = (issue: number, by: number) =>
    context.db.get('SELECT 1 AS one FROM dependencies WHERE issue_id = ? AND blocker_id = ?', issue, by);
  if (has(waiting.issue.id, blocker.issue.id)) throw new ForgeProblem(409, 'dependency exists already');
  // Longer cycles and self-dependencies are not detected, as in Gitea.
  if (has(blocker.issue.id, waiting.issue.id)) {
    throw new ForgeProblem(409, 'circular dependency: the two issues would block each other');
  }
  context.db.run(
    'INSERT INTO dependencies (issue_id, blocker_id, user_id, created_at) VALUES (?, ?, ?, ?)',
    waiting.issue.id,
    blocker.issue.id,
    caller.id,
    secondsOf(context.clock()),
  );
  record(call, 'add_dependency', waiting, blocker);
}

/** Records the change in the timelines of both issues. */
function record({ context, caller }: DependencyWrite, type: string, waiting: End, blocker: End): void {
  for (const [one, other] of [
    [waiting, blocker],
    [blocker, waiting],
  ] as const) {
    const scene = { issueId: one.issue.id, actor: caller };
    recordEvent(context, scene, { type, refers: { dependency: other.issue.id } });
    touchIssue(context, one.issue.id);
  }
}

function remove(call: DependencyWrite, waiting: End, blocker: End): void {
  assertCanChange(waiting, blocker);
  const { changes } = call.context.db.run(
    'DELETE FROM dependencies WHERE issue_id = ? AND blocker_id = ?',
    waiting.issue.id,
    blocker.issue.id,
  );
  if (changes === 0) throw new ForgeProblem(404, 'dependency does not exist');
  record(call, 'remove_dependency', waiting, blocker);
}

/** Changes the dependency between the issue in the path and the issue in the body; returns the issue in the path. */
function between(call: DependencyWrite, change: (here: End, named: End) => void) {
  const issue = call.context.db.transaction(() => {
    const { here, named } = findEnds(call);
    change(here, named);
    return readIssueRow(call.context, here.issue.id);
  });
  return toIssue(call.context, issue, { ...call, viewer: call.caller });
}

/** Handlers for dependencies. They send no webhooks. */
export const dependencyHandlers = defineHandlers({
  listDependencies(call) {
    const { context, page, reply, repository, caller } = call;
    found(hasDependencies(repository) ? repository : undefined);
    const issue = findIssue(call);
    const from = 'FROM dependencies d JOIN issues i ON i.id = d.blocker_id WHERE d.issue_id = ?';
    reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, issue.id)?.count ?? 0);
    const rows = context.db.all<IssueRow>(
      `SELECT i.* ${from} ORDER BY ${sameRepositoryFirst} LIMIT ? OFFSET ?`,
      issue.id,
      repository.id,
      page.limit,
      page.offset,
    );
    const homes = loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id),
    );
    const isReadable = createReadable(context, homes, caller);
    const shapes = toIssuesById(context, rows.filter(isReadable), { homes, viewer: caller });
    const isWriter = reaches(call.permission, 'write');
    return rows.map((row) => shapes.get(row.id) ?? toStub(isWriter));
  },

  addDependency: (call) => between(call, (here, named) => add(call, here, named)),
  removeDependency: (call) => between(call, (here, named) => remove(call, here, named)),

  listBlocks(call) {
    const { context, query, repository, caller } = call;
    const issue = findIssue(call);
    // This list has its own pagination: a limit below 2 selects the default, and there is no practical maximum.
    const limit = (query.limit ?? 0) <= 1 ? defaultLimit : (query.limit ?? defaultLimit);
    const rows = context.db.all<IssueRow>(
      `SELECT i.* FROM dependencies d JOIN issues i ON i.id = d.issue_id WHERE d.blocker_id = ?
       ORDER BY ${sameRepositoryFirst} LIMIT ? OFFSET ?`,
      issue.id,
      repository.id,
      Math.min(limit, maxBlocks),
      Math.min((Math.max(query.page ?? 1, 1) - 1) * limit, Number.MAX_SAFE_INTEGER),
    );
    const homes = loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id),
    );
    const isReadable = createReadable(context, homes, caller);
    const shapes = toIssuesById(context, rows.filter(isReadable), { homes, viewer: caller });
    return rows.flatMap((row) => shapes.get(row.id) ?? []);
  },

  addBlock: (call) => between(call, (here, named) => add(call, named, here)),
  removeBlock: (call) => between(call, (here, named) => remove(call, named, here)),
});

/** Upper limit of the page size; no client waits for a longer list. */
const maxBlocks = 1_000_000;

function createReadable(
  { db }: ForgeContext,
  homes: ReadonlyMap<number, OwnedRepository>,
  caller: UserRow | undefined,
): (issue: IssueRow) => boolean {
  const known = new Map<string, boolean>();
  return (issue) => {
    const home = homes.get(issue.repo_id);
    if (!home) return false;
    const unit = unitOfIssue(issue);
    const key = `${issue.repo_id} ${unit}`;
    const isReadable =
      known.get(key) ?? reaches(permissionOf(db, caller, home.repository, home.owner, unit), 'read');
    known.set(key, isReadable);
    return isReadable;
  };
}

function unitOfIssue(issue: IssueRow): 'pulls' | 'issues' {
  return issue.is_pull ? 'pulls' : 'issues';
}

/**
 * Returns the placeholder for an issue that the caller cannot read. For callers with write access, the placeholder
 * contains none of the issue's fields, not even its state.
 */
function toStub(isWriter: boolean) {
  return {
    id: 0,
    url: '',
    html_url: '',
    number: 0,
    user: null,
    original_author: '',
    original_author_id: 0,
    title: isWriter ? '' : 'HIDDEN',
    body: '',
    ref: '',
    assets: [],
    labels: [],
    milestone: null,
    assignee: null,
    assignees: null,
    projects: null,
    state: isWriter ? ('' as const) : ('open' as const),
    is_locked: false,
    comments: 0,
    created_at: toInstant(0),
    updated_at: toInstant(0),
    closed_at: null,
    due_date: null,
    time_estimate: 0,
    pull_request: null,
    repository: null,
    pin_order: 0,
    content_version: 0,
  };
}
