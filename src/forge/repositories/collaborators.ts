import { toUser } from '../accounts/users-rows.ts';
import { reaches, requireUnblocked, statedPermissionOf } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

function collaboratorNamed(db: Database, name: string): UserRow {
  const user = userNamed(db, name);
  if (!user) throw new ForgeProblem(422, 'user does not exist');
  return user;
}

/** Handlers for collaborators and their permissions. */
export const collaboratorHandlers = defineHandlers({
  listCollaborators({ context, repository, caller, page, reply }) {
    const { db } = context;
    const count = 'SELECT count(*) AS count FROM collaborators WHERE repo_id = ?';
    reply.total(db.get<{ count: number }>(count, repository.id)?.count ?? 0);
    const users = db.all<UserRow>(
      `SELECT u.* FROM collaborators c JOIN users u ON u.id = c.user_id WHERE c.repo_id = ?
       ORDER BY c.created_at, c.user_id LIMIT ? OFFSET ?`,
      repository.id,
      page.limit,
      page.offset,
    );
    return users.map((user) => toUser(context, user, caller));
  },

  checkCollaborator({ context, repository, params }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    const sql = 'SELECT 1 AS one FROM collaborators WHERE repo_id = ? AND user_id = ?';
    found(context.db.get(sql, repository.id, user.id));
    return undefined;
  },

  deleteCollaborator({ context, repository, params }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    context.db.run('DELETE FROM collaborators WHERE repo_id = ? AND user_id = ?', repository.id, user.id);
    return undefined;
  },

  putCollaborator({ context, repository, owner, params, body }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    if (user.type !== 'user') throw new ForgeProblem(422, 'user does not exist');
    // An owner already has full access, and a row would outlive the ownership.
    if (user.id === repository.owner_id) return undefined;
    requireUnblocked(context.db, user, [owner.id]);
    requireUnblocked(context.db, owner, [user.id]);
    context.db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (repo_id, user_id) DO UPDATE SET permission = excluded.permission`,
      repository.id,
      user.id,
      body.permission ?? 'write',
      secondsOf(context.clock()),
    );
    return undefined;
  },

  getPermission({ context, repository, owner, permission, caller, params }) {
    if (!caller) throw new ForgeProblem(401, 'token is required');
    const isOwn = params.collaborator.toLowerCase() === caller.lower_name;
    if (!isOwn && !reaches(permission, 'admin')) {
      throw new ForgeProblem(
        403,
        'Only admins can query all permissions, repo admins can query all repo permissions',
      );
    }
    const user = found(userNamed(context.db, params.collaborator));
    const held = statedPermissionOf(context.db, user, repository, owner);
    // The account is shown as the repository's owner sees it, as in Gitea, but limited by the scope of the caller's
    // token.
    const viewer = { ...owner, is_public_only: caller.is_public_only };
    return { permission: held, role_name: held, user: toUser(context, user, viewer) };
  },
});
