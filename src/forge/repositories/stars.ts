import { requireUnblocked } from '../platform/access/permissions.ts';
import { found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { secondsOf } from '../platform/time.ts';
import { listMarked } from './marked.ts';

/** Handlers for stars. */
export const starHandlers = defineHandlers({
  listStarred: (call) => listMarked(call, 'stars', call.account),
  listOwnStarred: (call) => listMarked(call, 'stars', call.caller),

  checkStar({ context, repository, caller }) {
    const sql = 'SELECT 1 AS one FROM stars WHERE user_id = ? AND repo_id = ?';
    found(context.db.get(sql, caller.id, repository.id));
    return undefined;
  },

  star({ context, repository, caller }) {
    requireUnblocked(context.db, caller, [repository.owner_id]);
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
