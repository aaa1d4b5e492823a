import type { operations } from '../../contract/operations.ts';
import { publicRepositories, readableCondition } from '../access/permissions.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { toRepositories } from '../views/repository.ts';

type SearchQuery = HandlerCall<(typeof operations)['searchRepositories']>['query'];
/** A part of the condition, with its values. */
type SearchTerm = { readonly sql: string; readonly values?: readonly (string | number)[] };

/** Bytes that Git LFS keeps for a repository. */
const lfsBytes = `(SELECT coalesce(sum(c.size), 0) FROM lfs_objects l JOIN lfs_contents c ON c.oid = l.oid WHERE l.repo_id = r.id)`;

/** Columns by the word of `sort`. */
const columns: Readonly<Record<string, readonly string[]>> = {
  alpha: ['o.lower_name', 'r.lower_name'],
  created: ['r.created_at'],
  updated: ['r.updated_at'],
  size: ['r.size'],
  git_size: [`(r.size - ${lfsBytes})`],
  lfs_size: [lfsBytes],
  stars: ['r.num_stars'],
  forks: ['r.num_forks'],
  id: ['r.id'],
};

/** The search for repositories by words, owners and properties. */
export const repositorySearchHandlers = defineHandlers({
  searchRepositories({ context, query, caller, page, reply }) {
    const terms = [readableCondition(caller), ...termsOf(query, caller)];
    const order = orderOf(query);
    // The word in front names statements that read every repository: no index finds parts of names.
    const from = `/* search */ FROM repositories r JOIN users o ON o.id = r.owner_id
      WHERE ${terms.map(({ sql }) => sql).join(' AND ')}`;
    const values = terms.flatMap((term) => term.values ?? []);
    const counted = context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values);
    reply.total(counted?.count ?? 0);
    const rows = context.db.all<RepositoryRow>(
      `SELECT r.* ${from} ORDER BY ${order} LIMIT ? OFFSET ?`,
      ...values,
      page.limit,
      page.offset,
    );
    return { ok: true, data: toRepositories(context, rows, caller) };
  },
});

function termsOf(query: SearchQuery, caller: UserRow | undefined): SearchTerm[] {
  const terms: SearchTerm[] = [modeOf(query.mode ?? '')];
  const add = (sql: string, ...values: (string | number)[]) => terms.push({ sql, values });
  const words = (query.q ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  if (words.length > 0) {
    const each = words.map((word) => matchOf(word.toLowerCase(), query));
    add(`(${each.map(({ sql }) => sql).join(' OR ')})`, ...each.flatMap(({ values = [] }) => values));
  }
  if (query.private === false || caller === undefined) add(publicRepositories);
  if (query.is_private !== undefined) add('r.is_private = ?', Number(query.is_private));
  if (query.template !== undefined) add('r.is_template = ?', Number(query.template));
  if (query.archived !== undefined) add(query.archived ? 'r.archived_at > 0' : 'r.archived_at = 0');
  if (query.starredBy) add('r.id IN (SELECT repo_id FROM stars WHERE user_id = ?)', query.starredBy);
  if (query.team_id) {
    add(
      `EXISTS (SELECT 1 FROM teams t WHERE t.id = ? AND t.org_id = r.owner_id AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = r.id)))`,
      query.team_id,
    );
  }
  if (query.uid) terms.push(ownerTerm(query.uid, query));
  return terms;
}

/** A word is part of the name, or of `owner/name`, of a topic, or of the description where asked; `topic`: a whole topic alone. */
function matchOf(word: string, { topic, includeDesc }: SearchQuery): SearchTerm {
  if (topic) return { sql: 'EXISTS (SELECT 1 FROM json_each(r.topics) WHERE value = ?)', values: [word] };
  const parts: SearchTerm[] = [
    { sql: 'instr(r.lower_name, ?) > 0', values: [word] },
    { sql: 'EXISTS (SELECT 1 FROM json_each(r.topics) WHERE instr(value, ?) > 0)', values: [word] },
  ];
  if (word.includes('/'))
    parts.push({ sql: `instr(o.lower_name || '/' || r.lower_name, ?) > 0`, values: [word] });
  if (includeDesc) parts.push({ sql: 'instr(lower(r.description), ?) > 0', values: [word] });
  return {
    sql: parts.map(({ sql }) => sql).join(' OR '),
    values: parts.flatMap(({ values = [] }) => values),
  };
}

function modeOf(mode: string): SearchTerm {
  const conditions: Readonly<Record<string, string>> = {
    '': '1',
    source: 'r.fork_id IS NULL AND r.is_mirror = 0',
    fork: 'r.fork_id IS NOT NULL',
    mirror: 'r.is_mirror = 1',
    collaborative: '1',
  };
  const sql = Object.hasOwn(conditions, mode) ? conditions[mode] : undefined;
  if (sql === undefined) throw new ForgeProblem(422, 'invalid search mode');
  return { sql };
}

/** What an account owns, and what it works on for others unless `exclusive`; `collaborative`: the latter alone. */
function ownerTerm(uid: number, { exclusive, mode }: SearchQuery): SearchTerm {
  const shared = `(r.id IN (SELECT repo_id FROM collaborators WHERE user_id = ?)
    OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
      WHERE m.user_id = ? AND m.org_id = r.owner_id AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = r.id))))`;
  if (mode === 'collaborative') return { sql: `(${shared} AND r.owner_id <> ?)`, values: [uid, uid, uid] };
  if (exclusive) return { sql: 'r.owner_id = ?', values: [uid] };
  return { sql: `(r.owner_id = ? OR ${shared})`, values: [uid, uid, uid] };
}

/** `order` is looked at beside `sort` alone. */
function orderOf({ sort, order = '', priority_owner_id: first }: SearchQuery): string {
  const priority = first ? `CASE WHEN r.owner_id = ${Math.trunc(first)} THEN 0 ELSE 1 END, ` : '';
  if (!sort) return `${priority}r.lower_name, r.id`;
  const direction = { '': 'ASC', asc: 'ASC', desc: 'DESC' }[order];
  if (direction === undefined) throw new ForgeProblem(422, `Invalid sort order: "${order}"`);
  const by = Object.hasOwn(columns, sort) ? columns[sort] : undefined;
  if (by === undefined) throw new ForgeProblem(422, `Invalid sort mode: "${sort}"`);
  return `${priority}${[...by, 'r.id'].map((column) => `${column} ${direction}`).join(', ')}`;
}
