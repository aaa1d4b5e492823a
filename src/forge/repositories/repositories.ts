import {
  canCreateRepositoryIn,
  canSee,
  permissionOf,
  publicRepositories,
  reaches,
  readableCondition,
} from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { mergeSettings } from '../core/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { recordActivity } from '../events/activities.ts';
import { readBranch } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { toRepositories, toRepository } from '../views/repository.ts';
import { assertRepositoryName, createRepository, isTaken } from './create.ts';
import { removeRepository } from './removal.ts';

/** Renames a repository; the old name redirects until another repository takes it. */
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

/** Records that a repository has another name, after the change. */
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
  if (edit.name !== undefined && edit.name !== repository.name) rename(context, target, edit.name);
  // Who gave a star may not see it any more: all of them go.
  if (edit.private && !repository.is_private)
    context.db.run('DELETE FROM stars WHERE repo_id = ?', repository.id);
  const archivedAt = (edit.archived ?? repository.archived_at > 0) ? repository.archived_at || now : 0;
  context.db.run(
    `UPDATE repositories SET description = ?, website = ?, is_private = ?, is_template = ?, archived_at = ?,
       default_branch = ?, settings = ?, updated_at = ? WHERE id = ?`,
    edit.description ?? repository.description,
    edit.website ?? repository.website,
    edit.private ?? repository.is_private,
    edit.template ?? repository.is_template,
    archivedAt,
    branch,
    mergeSettings(repository, edit),
    now,
    repository.id,
  );
}

/** Returns the default branch after an edit: one that does not exist is ignored, except in an empty repository. */
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

/** Ids of what an account works on without owning it, as a collaborator or through a team: each part by its own index. */
const sharedIds = /* sql */ `
SELECT repo_id AS id FROM collaborators WHERE user_id = ?1
UNION SELECT r.id FROM team_members m JOIN teams t ON t.id = m.team_id AND t.includes_all_repositories = 1
  JOIN repositories r ON r.owner_id = m.org_id WHERE m.user_id = ?1
UNION SELECT x.repo_id FROM team_members m JOIN team_repositories x ON x.team_id = m.team_id WHERE m.user_id = ?1`;

/** Both parts come in the order of their names, the first straight from its index: a page reads no more than itself. */
const ownInOrder = /* sql */ `
SELECT id, lower_name FROM repositories WHERE owner_id = ?1
UNION ALL
SELECT id, lower_name FROM repositories WHERE id IN (${sharedIds}) AND owner_id <> ?1
ORDER BY lower_name, id`;

/** The same list, limited to public repositories. */
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
  // Who made it administers it, also from a team that has no access to all repositories.
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
  getRepository: (call) => toRepository(call.context, call.repository, { ...call, viewer: call.caller }),

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
    // As on Gitea, an anonymous caller's count leaves private ones out and a signed-in caller's does not.
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
