import { reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, forbiddenInSilence } from '../platform/errors.ts';
import type { PageRange } from '../platform/paging.ts';
import type { IssueRow, UserRow } from '../platform/rows.ts';
import { parseTimestamp } from '../platform/time.ts';

/** Gitea's default reactions; a Gitea instance can configure others. */
export const allowedReactions: ReadonlySet<string> = new Set([
  '+1',
  '-1',
  'laugh',
  'hooray',
  'confused',
  'heart',
  'rocket',
  'eyes',
]);

/** Maximum number of pinned issues and of pinned pull requests per repository. */
export const maxPinned = 3;

/** Ends the request with a bare 403 unless the caller is the author or may write to the repository. */
export function requireAuthorOrWriter(target: RepositoryTarget, caller: UserRow, authorId: number): void {
  if (caller.id !== authorId && !reaches(target.permission, 'write')) throw forbiddenInSilence();
}

type OptionalText = string | undefined;

/** Filters of an issue list. */
type IssueFilter = {
  readonly [Name in
    | 'state'
    | 'type'
    | 'labels'
    | 'q'
    | 'milestones'
    | 'since'
    | 'before'
    | 'created_by'
    | 'assigned_by'
    | 'mentioned_by']?: OptionalText;
};

/** A part of the condition for issues `i`, with its parameters. */
export type IssueCondition = { readonly sql: string; readonly values: readonly (string | number)[] };

/** Returns one page of a repository's issues, newest first, and the total count. */
export function listIssueRows(
  context: ForgeContext,
  place: RepositoryTarget,
  filter: IssueFilter,
  page: PageRange,
): { readonly rows: readonly IssueRow[]; readonly total: number } {
  const conditions = conditionsOf(context, place, filter);
  const where = conditions.map((condition) => condition.sql).join(' AND ');
  const values = conditions.flatMap((condition) => condition.values);
  const { db } = context;
  const counted = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM issues i WHERE ${where}`,
    ...values,
  );
  const rows = db.all<IssueRow>(
    `SELECT i.* FROM issues i WHERE ${where} ORDER BY i.created_at DESC, i.id DESC LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  return { rows, total: counted?.count ?? 0 };
}

function conditionsOf(context: ForgeContext, place: RepositoryTarget, filter: IssueFilter): IssueCondition[] {
  const since = parseTimestamp(filter.since);
  const before = parseTimestamp(filter.before);
  const candidates: (IssueCondition | undefined)[] = [
    { sql: 'i.repo_id = ?', values: [place.repository.id] },
    filter.state === 'all'
      ? undefined
      : { sql: 'i.is_closed = ?', values: [filter.state === 'closed' ? 1 : 0] },
    kindCondition(filter.type),
    labelsOf(context, place, filter.labels),
    milestonesOf(context, place, filter.milestones),
    textCondition(filter.q),
    since === undefined ? undefined : { sql: 'i.updated_at >= ?', values: [since] },
    before === undefined ? undefined : { sql: 'i.updated_at <= ?', values: [before] },
    person(context, filter.created_by, 'i.poster_id = ?'),
    person(
      context,
      filter.assigned_by,
      'EXISTS (SELECT 1 FROM assignees a WHERE a.issue_id = i.id AND a.user_id = ?)',
    ),
    mentionOf(context, filter.mentioned_by),
  ];
  return candidates.filter((condition) => condition !== undefined);
}

export function kindCondition(type: OptionalText): IssueCondition | undefined {
  if (type !== 'issues' && type !== 'pulls') return undefined;
  return { sql: 'i.is_pull = ?', values: [type === 'pulls' ? 1 : 0] };
}

/**
 * Returns the label condition: an issue must have all known labels. Unknown names are dropped; if no name is known,
 * there is no condition.
 */
function labelsOf(
  context: ForgeContext,
  place: RepositoryTarget,
  names: OptionalText,
): IssueCondition | undefined {
  const ids = context.db.all<{ name: string; ids: string }>(
    `SELECT name, json_group_array(id) AS ids FROM labels WHERE (repo_id = ? OR org_id = ?)
       AND name IN (SELECT value FROM json_each(?)) GROUP BY name`,
    place.repository.id,
    place.owner.type === 'organization' ? place.owner.id : 0,
    JSON.stringify(splitList(names)),
  );
  if (ids.length === 0) return undefined;
  const held = `EXISTS (SELECT 1 FROM issue_labels l WHERE l.issue_id = i.id
    AND l.label_id IN (SELECT value FROM json_each(?)))`;
  return { sql: ids.map(() => held).join(' AND '), values: ids.map((row) => row.ids) };
}

function milestonesOf(
  context: ForgeContext,
  place: RepositoryTarget,
  names: OptionalText,
): IssueCondition | undefined {
  const wanted = splitList(names);
  if (wanted.length === 0) return undefined;
  const rows = context.db.all<{ id: number }>(
    `SELECT id FROM milestones WHERE repo_id = ?1 AND (title IN (SELECT value FROM json_each(?2))
       OR CAST(id AS TEXT) IN (SELECT value FROM json_each(?2)))`,
    place.repository.id,
    JSON.stringify(wanted),
  );
  const ids = JSON.stringify(rows.map((row) => row.id));
  return { sql: 'i.milestone_id IN (SELECT value FROM json_each(?))', values: [ids] };
}

export function textCondition(words: OptionalText): IssueCondition | undefined {
  const text = words?.trim().toLowerCase();
  if (!text) return undefined;
  const sql = `(instr(lower(i.title), ?) > 0 OR instr(lower(i.body), ?) > 0
    OR EXISTS (SELECT 1 FROM comments c WHERE c.issue_id = i.id AND instr(lower(c.body), ?) > 0))`;
  return { sql, values: [text, text, text] };
}

function person(context: ForgeContext, name: OptionalText, sql: string): IssueCondition | undefined {
  if (!name) return undefined;
  const user = userNamed(context.db, name);
  if (!user) throw new ForgeProblem(404, 'user does not exist');
  return { sql, values: [user.id] };
}

/** Returns the condition for mentions: an account name after an at sign, in the issue or in a comment. */
function mentionOf(context: ForgeContext, name: OptionalText): IssueCondition | undefined {
  const known = person(context, name, '1');
  return known && textCondition(`@${name}`);
}

export function splitList(text: OptionalText): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
