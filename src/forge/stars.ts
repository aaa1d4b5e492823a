import { permissionOf } from './access.ts';
import { defineHandlers } from './handler.ts';
import { secondsOf } from './instants.ts';
import { toRepository } from './resources/repository.ts';
import { loadUsers } from './resources/user.ts';
import type { RepositoryRow } from './rows.ts';

/** What answers for stars: an account's list of repositories it cares for. */
export const starHandlers = defineHandlers({
  listStarred({ context, account, caller, page, reply }) {
    reply.total(account.num_stars);
    // Private repositories show only in one's own list; those that became unreadable are dropped after the page is cut.
    const rows = context.db.all<RepositoryRow>(
      `SELECT r.* FROM stars s JOIN repositories r ON r.id = s.repo_id WHERE s.user_id = ? AND (r.is_private = 0 OR ?)
       ORDER BY s.id LIMIT ? OFFSET ?`,
      account.id,
      account.id === caller.id,
      page.limit,
      page.offset,
    );
    const owners = loadUsers(
      context,
      rows.map((row) => row.owner_id),
    );
    return rows.flatMap((row) => {
      const owner = owners.get(row.owner_id);
      const permission = owner ? permissionOf(context.db, account, row, owner) : 'none';
      if (!owner || permission === 'none') return [];
      return [toRepository(context, row, { owner, viewer: caller, permission })];
    });
  },

  star({ context, repository, caller }) {
    context.db.run(
      'INSERT INTO stars (user_id, repo_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      caller.id,
      repository.id,
      secondsOf(context.clock()),
    );
    return undefined;
  },

  unstar({ context, repository, caller }) {
    context.db.run('DELETE FROM stars WHERE user_id = ? AND repo_id = ?', caller.id, repository.id);
    return undefined;
  },
});
