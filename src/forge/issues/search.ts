import type { operations } from '../../contract/operations.ts';
import { permissionOf, readableCondition } from '../access/permissions.ts';
import { userNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import { parseTimestamp } from '../core/time.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { loadHomes, toIssuesById } from '../views/issue-lists.ts';
import { type IssueCondition, kindCondition, splitList, textCondition } from './list.ts';

type IssueSearch = HandlerCall<(typeof operations)['searchIssues']>;

/** The search for issues and pull requests in all repositories. */
export const issueSearchHandlers = defineHandlers({
  searchIssues(call) {
    const { context, caller, page, reply } = call;
    const { db } = context;
    const conditions = [readableCondition(caller), ...conditionsOf(call)];
    const values = conditions.flatMap((condition) => condition.values);
    // The word in front names statements that read every issue: no index finds parts of texts.
    const from = `/* search */ FROM issues i JOIN repositories r ON r.id = i.repo_id JOIN users o ON o.id = r.owner_id
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    const counted = db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values);
    reply.total(counted?.count ?? 0);
    const sql = `SELECT i.* ${from} ORDER BY i.created_at DESC, i.id DESC LIMIT ? OFFSET ?`;
    const rows = db.all<IssueRow>(sql, ...values, page.limit, page.offset);
    return toReadable(call, rows);
  },
});

/** Returns rows as the API shows them, without those of units that the caller's teams cannot read. */
function toReadable({ context, caller }: IssueSearch, rows: readonly IssueRow[]) {
  const homes = loadHomes(
    context,
    rows.map(({ repo_id }) => repo_id),
  );
  const readable = rows.filter((row) => {
    const home = homes.get(row.repo_id);
    const unit = row.is_pull ? 'pulls' : 'issues';
    return home && permissionOf(context.db, caller, home.repository, home.owner, unit) !== 'none';
  });
  const shapes = toIssuesById(context, readable, { homes, viewer: caller });
  return readable.map(({ id }) => found(shapes.get(id)));
}

function conditionsOf(call: IssueSearch): IssueCondition[] {
  const { context, query } = call;
  const since = parseTimestamp(query.since);
  const before = parseTimestamp(query.before);
  const { state } = query;
  const candidates: (IssueCondition | undefined)[] = [
    ...homeConditions(call),
    state === 'all' ? undefined : { sql: 'i.is_closed = ?', values: [state === 'closed' ? 1 : 0] },
    kindCondition(query.type),
    textCondition(query.q),
    labelCondition(context, query.labels),
    milestoneCondition(context, query.milestones),
    since === undefined ? undefined : { sql: 'i.updated_at >= ?', values: [since] },
    before === undefined ? undefined : { sql: 'i.updated_at <= ?', values: [before] },
    ...personConditions(call),
  ];
  return candidates.filter((condition) => condition !== undefined);
}

/** Narrows by owner, and by the repositories of one of its teams. */
function homeConditions({ context, query }: IssueSearch): IssueCondition[] {
  const { db } = context;
  const { owner: ownerName, team: teamName } = query;
  if (!ownerName) {
    if (!teamName) return [];
    throw new ForgeProblem(400, 'owner organisation is required for filtering on team');
  }
  const owner = userNamed(db, ownerName);
  if (!owner) throw new ForgeProblem(400, `user does not exist [name: ${ownerName}]`);
  const ofOwner = { sql: 'r.owner_id = ?', values: [owner.id] };
  if (!teamName) return [ofOwner];
  const sql = 'SELECT id FROM teams WHERE org_id = ? AND lower_name = ?';
  const team = db.get<{ id: number }>(sql, owner.id, teamName.toLowerCase());
  if (!team) throw new ForgeProblem(400, `team does not exist [org_id ${owner.id}, name: ${teamName}]`);
  const ofTeam = `(EXISTS (SELECT 1 FROM teams w WHERE w.id = ? AND w.includes_all_repositories = 1)
    OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = ? AND x.repo_id = r.id))`;
  return [ofOwner, { sql: ofTeam, values: [team.id, team.id] }];
}

/** Any of the names is enough; unknown ones are dropped, and with none known the filter vanishes. */
function labelCondition({ db }: ForgeContext, names: string | undefined): IssueCondition | undefined {
  const sql = '/* search */ SELECT id FROM labels WHERE name IN (SELECT value FROM json_each(?))';
  const ids = db.all<{ id: number }>(sql, JSON.stringify(splitList(names))).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  const held = `EXISTS (SELECT 1 FROM issue_labels l WHERE l.issue_id = i.id
    AND l.label_id IN (SELECT value FROM json_each(?)))`;
  return { sql: held, values: [JSON.stringify(ids)] };
}

/** As with labels. */
function milestoneCondition({ db }: ForgeContext, names: string | undefined): IssueCondition | undefined {
  const sql = '/* search */ SELECT id FROM milestones WHERE title IN (SELECT value FROM json_each(?))';
  const ids = db.all<{ id: number }>(sql, JSON.stringify(splitList(names))).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  return { sql: 'i.milestone_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(ids)] };
}

const inReviews = (types: string) =>
  `EXISTS (SELECT 1 FROM reviews v WHERE v.issue_id = i.id AND v.reviewer_id = ? AND v.type ${types})`;

function personConditions({ context, query, caller }: IssueSearch): (IssueCondition | undefined)[] {
  const author = query.created_by
    ? found(userNamed(context.db, query.created_by), 'user does not exist')
    : undefined;
  if (!caller) return [author && { sql: 'i.poster_id = ?', values: [author.id] }];
  // One's own issues take the place of those of another account.
  const poster = query.created ? caller : author;
  const isMine = (wanted: boolean | undefined, sql: string) =>
    wanted ? { sql, values: [caller.id] } : undefined;
  return [
    poster && { sql: 'i.poster_id = ?', values: [poster.id] },
    isMine(query.assigned, 'EXISTS (SELECT 1 FROM assignees a WHERE a.issue_id = i.id AND a.user_id = ?)'),
    query.mentioned ? textCondition(`@${caller.name}`) : undefined,
    isMine(query.review_requested, inReviews("= 'REQUEST_REVIEW'")),
    isMine(query.reviewed, inReviews("IN ('APPROVED', 'REQUEST_CHANGES', 'COMMENT')")),
  ];
}
