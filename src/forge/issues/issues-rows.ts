import { loadUsers, toUser } from '../accounts/users-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { toInstant, toInstantOrNull } from '../platform/time.ts';
import { loadAttachments, toAttachment } from './attachments-rows.ts';
import { loadLabels, toLabel } from './labels-rows.ts';
import { type MilestoneRow, toMilestone } from './milestones-rows.ts';

/** The repository of the issues, and the account that views them. */
export type IssuePlace = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly viewer: UserRow | undefined;
};

/** Returns whether a title marks a draft. */
export function isDraftTitle(title: string): boolean {
  return /^\s*(wip:|\[wip\])/i.test(title);
}

/** Returns the web URL of an issue or pull request. */
export function issueAddress(context: ForgeContext, issue: IssueRow, place: IssuePlace): string {
  const kind = issue.is_pull ? 'pulls' : 'issues';
  return `${context.rootUrl()}/${place.owner.name}/${place.repository.name}/${kind}/${issue.number}`;
}

/** Returns one issue, or the issue side of a pull request, as the API shows it. */
export function toIssue(context: ForgeContext, issue: IssueRow, place: IssuePlace) {
  const [shape] = toIssues(context, [issue], place);
  if (!shape) throw new TypeError('expected one issue for one row');
  return shape;
}

/** Returns issues of one repository in the given order; related rows are loaded in one batch. */
export function toIssues(context: ForgeContext, issues: readonly IssueRow[], place: IssuePlace) {
  const loaded = loadRelated(context, issues);
  return issues.map((issue) => toShape(context, issue, place, loaded));
}

type Related = ReturnType<typeof loadRelated>;

function loadRelated(context: ForgeContext, issues: readonly IssueRow[]) {
  const { db } = context;
  const ids = issues.map((issue) => issue.id);
  const given = JSON.stringify(ids);
  const assignees = db.all<{ issue_id: number; user_id: number }>(
    `SELECT issue_id, user_id FROM assignees WHERE issue_id IN (SELECT value FROM json_each(?)) ORDER BY id`,
    given,
  );
  const milestones = db.all<MilestoneRow>(
    'SELECT * FROM milestones WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify(issues.map((issue) => issue.milestone_id).filter((id) => id !== null)),
  );
  const pulls = issues.some((issue) => issue.is_pull)
    ? db.all<PullRow>('SELECT * FROM pulls WHERE issue_id IN (SELECT value FROM json_each(?))', given)
    : [];
  const people = [...issues.map((issue) => issue.poster_id), ...assignees.map((row) => row.user_id)];
  return {
    labels: loadLabels(context, ids),
    attachments: loadAttachments(context, 'issue', ids),
    assignees: Map.groupBy(assignees, (row) => row.issue_id),
    milestones: new Map(milestones.map((row) => [row.id, row])),
    pulls: new Map(pulls.map((row) => [row.issue_id, row])),
    users: loadUsers(context, people),
  };
}

/** Returns the content and state fields of an issue. */
function toContent(context: ForgeContext, issue: IssueRow, place: IssuePlace, related: Related) {
  const { labels, assignees, milestones, users } = related;
  const userOf = (id: number, viewer: UserRow | undefined) => {
    const user = users.get(id);
    return user ? toUser(context, user, viewer) : null;
  };
  const assigned = (assignees.get(issue.id) ?? [])
    // Gitea shows every caller the assignees as an anonymous caller sees them.
    .map((row) => userOf(row.user_id, undefined))
    .filter((user) => user !== null);
  const milestone = issue.milestone_id === null ? undefined : milestones.get(issue.milestone_id);
  const state: 'open' | 'closed' = issue.is_closed ? 'closed' : 'open';
  return {
    number: issue.number,
    user: userOf(issue.poster_id, place.viewer),
    title: issue.title,
    body: issue.body,
    labels: (labels.get(issue.id) ?? []).map((label) => toLabel(context, label, place)),
    milestone: milestone ? toMilestone(milestone) : null,
    assignee: assigned[0] ?? null,
    // An empty list is serialized as null, as Gitea does.
    assignees: assigned.length > 0 ? assigned : null,
    state,
    is_locked: issue.is_locked === 1,
    comments: issue.num_comments,
    created_at: toInstant(issue.created_at),
    updated_at: toInstant(issue.updated_at),
    closed_at: toInstantOrNull(issue.closed_at),
    due_date: toInstantOrNull(issue.due_at),
    pin_order: issue.pin_order,
    content_version: issue.content_version,
  };
}

function toShape(context: ForgeContext, issue: IssueRow, place: IssuePlace, related: Related) {
  const { repository, owner } = place;
  const html_url = issueAddress(context, issue, place);
  const pull = related.pulls.get(issue.id);
  const full_name = `${owner.name}/${repository.name}`;
  return {
    id: issue.id,
    url: `${context.rootUrl()}/api/v1/repos/${full_name}/issues/${issue.number}`,
    html_url,
    ...toContent(context, issue, place, related),
    original_author: '',
    original_author_id: 0,
    ref: issue.ref,
    assets: (related.attachments.get(issue.id) ?? []).map((row) => toAttachment(context, row)),
    projects: null,
    time_estimate: issue.time_estimate,
    pull_request: pull ? toPullMeta(issue, pull, html_url) : null,
    repository: { id: repository.id, name: repository.name, owner: owner.name, full_name },
  };
}

function toPullMeta(issue: IssueRow, pull: PullRow, html_url: string) {
  return {
    merged: pull.is_merged === 1,
    merged_at: toInstantOrNull(pull.merged_at),
    draft: isDraftTitle(issue.title),
    html_url,
  };
}

/** A repository with its owner. */
export type OwnedRepository = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** Returns repositories with their owners by id, in two queries; unknown ids are missing from the map. */
export function loadHomes(
  context: ForgeContext,
  ids: Iterable<number>,
): ReadonlyMap<number, OwnedRepository> {
  const repositories = context.db.all<RepositoryRow>(
    'SELECT * FROM repositories WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify([...new Set(ids)]),
  );
  const owners = loadUsers(
    context,
    repositories.map(({ owner_id }) => owner_id),
  );
  const homes = repositories.flatMap((repository): [number, OwnedRepository][] => {
    const owner = owners.get(repository.owner_id);
    return owner ? [[repository.id, { repository, owner }]] : [];
  });
  return new Map(homes);
}

/** Returns issues of several repositories, by id, as the API shows them. */
export function toIssuesById(
  context: ForgeContext,
  issues: readonly IssueRow[],
  { homes, viewer }: { homes: ReadonlyMap<number, OwnedRepository>; viewer: UserRow | undefined },
) {
  const shapes = new Map<number, ReturnType<typeof toIssues>[number]>();
  for (const [repositoryId, rows] of Map.groupBy(issues, ({ repo_id }) => repo_id)) {
    const home = homes.get(repositoryId);
    if (!home) continue;
    for (const shape of toIssues(context, rows, { ...home, viewer })) shapes.set(shape.id, shape);
  }
  return shapes;
}
