import type { operations } from '../../contract/operations.ts';
import { toUser } from '../accounts/users-rows.ts';
import { copyLfsObjects } from '../code/lfs-rows.ts';
import { forkPayload } from '../hooks/payloads.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import { watchRepository } from '../notifications/subscriptions-service.ts';
import { requireCopy } from '../platform/access/code.ts';
import {
  canCreateRepositoryIn,
  canSee,
  isOrganizationMember,
  permissionOf,
  publicRepositories,
  reaches,
  readableCondition,
  requireUnblocked,
} from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { CopyPermit } from '../platform/git/repository.ts';
import { defineHandlers, type HandlerCall } from '../platform/http/handler.ts';
import { beginWork, endCreation } from '../platform/journal.ts';
import { mergeSettings } from '../platform/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toRepositories, toRepository } from './repositories-rows.ts';
import {
  assertRepositoryName,
  createRepository,
  emitRepository,
  isTaken,
  removeRepository,
} from './repositories-service.ts';

/** Renames a repository. The old name redirects to it until another repository takes that name. */
function rename(context: ForgeContext, { repository, owner }: RepositoryTarget, name: string): void {
  const { db } = context;
  const lower = name.toLowerCase();
  assertRepositoryName(name);
  if (lower !== repository.lower_name) {
    if (isTaken(context, owner, name))
      throw new ForgeProblem(422, `repo name is already taken [name: ${name}]`);
    db.run('DELETE FROM redirects WHERE owner_id = ? AND lower_name = ?', owner.id, lower);
    db.run(
      'INSERT OR REPLACE INTO redirects (owner_id, lower_name, repo_id) VALUES (?, ?, ?)',
      owner.id,
      repository.lower_name,
      repository.id,
    );
  }
  db.run('UPDATE repositories SET name = ?, lower_name = ? WHERE id = ?', name, lower, repository.id);
}

/** Records a rename as an activity. Call it after the change. */
function noteRename(context: ForgeContext, { repository }: RepositoryTarget, actor: UserRow): void {
  const sql = 'SELECT 1 AS one FROM repositories WHERE id = ? AND name = ?';
  if (context.db.get(sql, repository.id, repository.name) !== undefined) return;
  const told = { repositoryId: repository.id, actorId: actor.id, content: repository.name };
  recordActivity(context, { ...told, type: 'rename_repo' });
}

type RepositoryEdit = Readonly<Record<string, unknown>> & {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly website?: string | null | undefined;
  readonly private?: boolean | null | undefined;
  readonly template?: boolean | null | undefined;
  readonly archived?: boolean | null | undefined;
};

function updateRepository(
  context: ForgeContext,
  target: RepositoryTarget,
  edit: RepositoryEdit,
  branch: string,
): void {
  const { repository } = target;
  const now = secondsOf(context.clock());
  if (repository.is_mirror === 1 && edit.archived !== undefined && edit.archived !== null)
    throw new ForgeProblem(422, 'repo is a mirror, cannot archive/un-archive');
  const isPrivate = visibilityAfter(context, repository, edit.private);
  if (edit.name !== undefined && edit.name !== repository.name) rename(context, target, edit.name);
  // Accounts that starred the repository may no longer see it, so all stars are removed.
  if (isPrivate && !repository.is_private)
    context.db.run('DELETE FROM stars WHERE repo_id = ?', repository.id);
  const archivedAt = (edit.archived ?? repository.archived_at > 0) ? repository.archived_at || now : 0;
  context.db.run(
    `UPDATE repositories SET description = ?, website = ?, is_private = ?, is_template = ?, archived_at = ?,
       default_branch = ?, settings = ?, updated_at = ? WHERE id = ?`,
    edit.description ?? repository.description,
    edit.website ?? repository.website,
    isPrivate,
    edit.template ?? repository.is_template,
    archivedAt,
    branch,
    mergeSettings(repository, edit),
    now,
    repository.id,
  );
}

/** Returns whether a repository is private after an edit. As in Gitea, an edit gives a fork the visibility of its parent. */
function visibilityAfter(
  { db }: ForgeContext,
  { fork_id, is_private }: RepositoryRow,
  wanted: boolean | null | undefined,
): boolean {
  if (wanted === undefined || wanted === null) return is_private === 1;
  const sql = 'SELECT is_private FROM repositories WHERE id = ?';
  const parent = fork_id === null ? undefined : db.get<Pick<RepositoryRow, 'is_private'>>(sql, fork_id);
  return parent === undefined ? wanted : parent.is_private === 1;
}

/** Returns the default branch after an edit. A branch that does not exist is ignored, except in an empty repository. */
async function branchAfter(
  context: ForgeContext,
  repository: RepositoryRow,
  wanted: string | null | undefined,
): Promise<string> {
  if (!wanted || wanted === repository.default_branch) return repository.default_branch;
  const exists = await readBranch(context.git.open(repository.id), wanted);
  if (!exists && !repository.is_empty) return repository.default_branch;
  await context.git.setDefaultBranch(repository.id, wanted);
  return wanted;
}

/**
 * Selects the ids of repositories that an account works on without owning them, as a collaborator or through a team.
 * Each part uses its own index.
 */
const sharedIds = /* sql */ `
SELECT repo_id AS id FROM collaborators WHERE user_id = ?1
UNION SELECT r.id FROM team_members m JOIN teams t ON t.id = m.team_id AND t.includes_all_repositories = 1
  JOIN repositories r ON r.owner_id = m.org_id WHERE m.user_id = ?1
UNION SELECT x.repo_id FROM team_members m JOIN team_repositories x ON x.team_id = m.team_id WHERE m.user_id = ?1`;

/**
 * Selects an account's own and shared repositories. Both parts are ordered by name, the first directly by its index, so
 * that a page reads only its own rows.
 */
const ownInOrder = /* sql */ `
SELECT id, lower_name FROM repositories WHERE owner_id = ?1
UNION ALL
SELECT id, lower_name FROM repositories WHERE id IN (${sharedIds}) AND owner_id <> ?1
ORDER BY lower_name, id`;

/** Like `ownInOrder`, limited to public repositories of public owners. */
const ownPublicInOrder = /* sql */ `
SELECT r.id, r.lower_name FROM (${ownInOrder}) w JOIN repositories r ON r.id = w.id JOIN users o ON o.id = r.owner_id
WHERE ${publicRepositories} ORDER BY r.lower_name, r.id`;

const countOwn = /* sql */ `
SELECT (SELECT count(*) FROM repositories WHERE owner_id = ?1)
  + (SELECT count(*) FROM repositories WHERE id IN (${sharedIds}) AND owner_id <> ?1) AS count`;

type OrganizationCall = {
  readonly context: ForgeContext;
  readonly organization: UserRow;
  readonly caller: UserRow;
  readonly body: Parameters<typeof createRepository>[3];
};

async function createInOrganization({ context, organization, caller, body }: OrganizationCall) {
  const { db } = context;
  if (!canCreateRepositoryIn(db, organization, caller)) {
    throw new ForgeProblem(403, 'Given user is not allowed to create repository in organization.');
  }
  const repository = await createRepository(context, organization, caller, body);
  // The creator becomes an administrator of the repository, even if their team does not have access to all
  // repositories.
  if (!reaches(permissionOf(db, caller, repository, organization), 'admin')) {
    db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, 'admin', ?)`,
      repository.id,
      caller.id,
      secondsOf(context.clock()),
    );
  }
  return toRepository(context, repository, { owner: organization, viewer: caller });
}

/** Handlers for repositories. */
export const repositoryHandlers = defineHandlers({
  getRepository: ({ context, repository, owner, caller }) =>
    toRepository(context, repository, { owner, viewer: caller }),

  getRepositoryById({ context, params, caller }) {
    const { db } = context;
    const repository = found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', params.id));
    const owner = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id));
    if (!canSee(db, caller, repository, owner)) throw new ForgeProblem(404, 'not found');
    return toRepository(context, repository, { owner, viewer: caller });
  },

  async createRepository({ context, caller, body }) {
    const repository = await createRepository(context, caller, caller, body);
    return toRepository(context, repository, { owner: caller, viewer: caller });
  },

  async createUserRepository({ context, account, caller, body }) {
    const repository = await createRepository(context, account, caller, body);
    return toRepository(context, repository, { owner: account, viewer: caller });
  },

  createOrganizationRepository: (call) => createInOrganization(call),
  createOrgRepository: (call) => createInOrganization(call),

  async editRepository(call) {
    const { context, repository, owner, caller, body } = call;
    const branch = await branchAfter(context, repository, body.default_branch);
    const edited = context.db.transaction(() => {
      updateRepository(context, call, body, branch);
      noteRename(context, call, caller);
      return found(context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repository.id));
    });
    return toRepository(context, edited, { owner, viewer: caller });
  },

  deleteRepository({ context, repository, owner, caller }) {
    removeRepository(context, { repository, owner, actor: caller });
    return undefined;
  },

  listOrganizationRepositories({ context, organization, caller, page, reply }) {
    const { db } = context;
    // As in Gitea, the count for an anonymous caller excludes private repositories, while that for a signed-in caller
    // includes them.
    const open = caller ? '' : 'AND is_private = 0';
    const count = `SELECT count(*) AS count FROM repositories WHERE owner_id = ? ${open}`;
    reply.total(db.get<{ count: number }>(count, organization.id)?.count ?? 0);
    const readable = readableCondition(caller);
    const rows = db.all<RepositoryRow>(
      `SELECT r.* FROM (SELECT * FROM repositories WHERE owner_id = ? ${open} ORDER BY id LIMIT ? OFFSET ?) r
       JOIN users o ON o.id = r.owner_id WHERE ${readable.sql} ORDER BY r.id`,
      organization.id,
      page.limit,
      page.offset,
      ...readable.values,
    );
    return toRepositories(context, rows, caller);
  },

  listUserRepositories({ context, account, caller, page, reply }) {
    const { db } = context;
    const readable = readableCondition(caller);
    const from = `FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.owner_id = ? AND ${readable.sql}`;
    const values = [account.id, ...readable.values];
    reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
    const sql = `SELECT r.* ${from} ORDER BY r.id LIMIT ? OFFSET ?`;
    return toRepositories(context, db.all<RepositoryRow>(sql, ...values, page.limit, page.offset), caller);
  },

  listOwnRepositories({ context, caller, page, reply }) {
    const { db } = context;
    const isLimited = caller.is_public_only === true;
    const counted = isLimited ? `SELECT count(*) AS count FROM (${ownPublicInOrder})` : countOwn;
    reply.total(db.get<{ count: number }>(counted, caller.id)?.count ?? 0);
    const rows = db.all<RepositoryRow>(
      `SELECT r.* FROM (${isLimited ? ownPublicInOrder : ownInOrder} LIMIT ?2 OFFSET ?3) p JOIN repositories r ON r.id = p.id
       ORDER BY p.lower_name, p.id`,
      caller.id,
      page.limit,
      page.offset,
    );
    return toRepositories(context, rows, caller);
  },
});

/** Handlers for forks: copies of a repository under another account, with all branches and tags. */
export const forkHandlers = defineHandlers({
  async createFork({ context, body, caller, ...source }) {
    const permit = requireCopy(context, caller, source.repository.id);
    const holder = findHolder(context, caller, body.organization);
    requireUnblocked(context.db, caller, [source.owner.id]);
    const fork = await forkRepository(
      context,
      { ...source, permit },
      { holder, actor: caller, name: body.name },
    );
    return toRepository(context, fork, { owner: holder, viewer: caller, permission: 'owner' });
  },
});

/** Settings of a fork, which is for code and pull requests; its owner may enable the other units. */
const unitsOfFork = {
  has_issues: false,
  has_wiki: false,
  has_projects: false,
  has_releases: false,
  has_packages: false,
  has_actions: false,
};

function findHolder(context: ForgeContext, caller: UserRow, name: string | undefined): UserRow {
  if (name === undefined) return caller;
  const organization = userNamed(context.db, name);
  if (organization?.type !== 'organization') {
    throw new ForgeProblem(404, `organization does not exist [name: ${name}]`);
  }
  if (isOrganizationMember(context.db, organization, caller)) return organization;
  throw new ForgeProblem(403, `User is no Member of Organisation '${organization.name}'`);
}

async function forkRepository(
  context: ForgeContext,
  source: RepositoryTarget & { readonly permit: CopyPermit },
  {
    holder,
    actor,
    name = source.repository.name,
  }: { holder: UserRow; actor: UserRow; name?: string | undefined },
): Promise<RepositoryRow> {
  const { db, git } = context;
  const row = db.transaction(() => insertFork(context, source, { holder, actor }, name));
  try {
    await git.copy(source.repository.id, row.id, source.permit);
  } catch (error) {
    // Every request to a repository without a folder would end with 500.
    db.run('DELETE FROM repositories WHERE id = ?', row.id);
    await git.remove(row.id);
    throw error;
  }
  db.transaction(() => {
    copyLfsObjects(context, source.permit, row.id);
    endCreation(db, row.id);
    recordActivity(context, { repositoryId: row.id, actorId: actor.id, type: 'create_repo' });
    emitFork(context, source, { fork: row, holder, actor });
  });
  return row;
}

function insertFork(
  context: ForgeContext,
  { repository }: RepositoryTarget,
  { holder, actor }: { readonly holder: UserRow; readonly actor: UserRow },
  name: string,
): RepositoryRow {
  const { db, clock } = context;
  assertRepositoryName(name);
  const sql = 'SELECT 1 AS one FROM repositories WHERE owner_id = ? AND (fork_id = ? OR id = ?)';
  const isForked = db.get(sql, holder.id, repository.id, repository.id) !== undefined;
  if (isForked || isTaken(context, holder, name)) {
    throw new ForgeProblem(409, 'The repository is forked already, or one of the same name exists.');
  }
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, description, default_branch, object_format,
       is_private, is_empty, fork_id, size, num_branches, created_at, updated_at)
     SELECT ?, ?, ?, description, default_branch, object_format, is_private, is_empty, id, size, num_branches,
       ?, ? FROM repositories WHERE id = ?`,
    holder.id,
    name,
    name.toLowerCase(),
    now,
    now,
    repository.id,
  );
  beginWork(db, lastId, 'creating');
  watchRepository(context, actor.id, lastId);
  const read = (): RepositoryRow =>
    found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', lastId));
  db.run('UPDATE repositories SET settings = ? WHERE id = ?', mergeSettings(read(), unitsOfFork), lastId);
  return read();
}

/**
 * Emits the `fork` event to the source's hooks; for a fork in an organization, the organization's hooks also get a
 * `repository` event.
 */
function emitFork(
  context: ForgeContext,
  { repository, owner }: RepositoryTarget,
  { fork, holder, actor }: { fork: RepositoryRow; holder: UserRow; actor: UserRow },
): void {
  context.emit({
    type: 'fork',
    repository,
    owner,
    payload: () =>
      forkPayload({
        source: toRepository(context, repository, { owner, viewer: actor }),
        fork: toRepository(context, fork, {
          owner: holder,
          viewer: undefined,
          permission: 'owner',
          parentReader: actor,
        }),
        sender: toUser(context, actor, undefined),
      }),
  });
  if (holder.type !== 'organization') return;
  emitRepository(context, { repository: fork, owner: holder, actor, action: 'created' });
}

type SearchQuery = HandlerCall<(typeof operations)['searchRepositories']>['query'];
/** A part of the search condition, with its parameters. */
type SearchTerm = { readonly sql: string; readonly values?: readonly (string | number)[] };

/** Number of bytes that Git LFS stores for a repository. */
const lfsBytes = `(SELECT coalesce(sum(c.size), 0) FROM lfs_objects l JOIN lfs_contents c ON c.oid = l.oid WHERE l.repo_id = r.id)`;

/** Columns to sort by, for each value of `sort`. */
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

/** Handlers for the search of repositories by words, owners and properties. */
export const repositorySearchHandlers = defineHandlers({
  searchRepositories({ context, query, caller, page, reply }) {
    const terms = [readableCondition(caller), ...termsOf(query, caller)];
    const order = orderOf(query);
    // The leading word marks statements that read every repository, because no index finds substrings.
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

/**
 * Returns the condition for one word. It matches part of the name, of `owner/name`, of a topic, or of the description
 * if requested; with `topic`, only a whole topic.
 */
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

/**
 * Returns the condition for repositories that an account owns and, unless `exclusive`, repositories of others that the
 * account works on. Mode `collaborative` selects only the repositories of others.
 */
function ownerTerm(uid: number, { exclusive, mode }: SearchQuery): SearchTerm {
  const shared = `(r.id IN (SELECT repo_id FROM collaborators WHERE user_id = ?)
    OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
      WHERE m.user_id = ? AND m.org_id = r.owner_id AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = r.id))))`;
  if (mode === 'collaborative') return { sql: `(${shared} AND r.owner_id <> ?)`, values: [uid, uid, uid] };
  if (exclusive) return { sql: 'r.owner_id = ?', values: [uid] };
  return { sql: `(r.owner_id = ? OR ${shared})`, values: [uid, uid, uid] };
}

/** Returns the sort order. `order` is used only together with `sort`. */
function orderOf({ sort, order = '', priority_owner_id: first }: SearchQuery): string {
  const priority = first ? `CASE WHEN r.owner_id = ${Math.trunc(first)} THEN 0 ELSE 1 END, ` : '';
  if (!sort) return `${priority}r.lower_name, r.id`;
  const direction = { '': 'ASC', asc: 'ASC', desc: 'DESC' }[order];
  if (direction === undefined) throw new ForgeProblem(422, `Invalid sort order: "${order}"`);
  const by = Object.hasOwn(columns, sort) ? columns[sort] : undefined;
  if (by === undefined) throw new ForgeProblem(422, `Invalid sort mode: "${sort}"`);
  return `${priority}${[...by, 'r.id'].map((column) => `${column} ${direction}`).join(', ')}`;
}
