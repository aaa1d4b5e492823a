import { toUser } from '../accounts/users-rows.ts';
import { readableCondition } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { reachesUnit } from '../pulls/allowlists.ts';
import { toRepositories } from './repositories-rows.ts';

type PeopleCall = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/** Handlers for the forks of a repository, and for the accounts related to it. */
export const peopleHandlers = defineHandlers({
  listForks({ context, repository, caller, page, reply }) {
    const readable = readableCondition(caller);
    const from = `FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.fork_id = ? AND ${readable.sql}`;
    const values = [repository.id, ...readable.values];
    reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
    const rows = context.db.all<RepositoryRow>(
      `SELECT r.* ${from} ORDER BY r.id LIMIT ? OFFSET ?`,
      ...values,
      page.limit,
      page.offset,
    );
    return toRepositories(context, rows, caller);
  },

  listStargazers({ context, repository, caller, page, reply }) {
    const isVisible = caller?.is_admin ? '1' : `(u.visibility <> 'private' OR u.id = ${caller?.id ?? 0})`;
    const rows = context.db.all<UserRow>(
      `SELECT u.* FROM stars s JOIN users u ON u.id = s.user_id WHERE s.repo_id = ? AND ${isVisible}
       ORDER BY s.id LIMIT ? OFFSET ?`,
      repository.id,
      page.limit,
      page.offset,
    );
    reply.total(repository.num_stars);
    return rows.map((user) => toUser(context, user, caller));
  },

  listAssignees: (call) => showPeople(call, membersOf(call, { least: 'write', units: ['issues', 'pulls'] })),

  listReviewers(call) {
    const members = membersOf(call, { least: 'read', units: ['pulls'] });
    // Accounts that can be reviewers may also request reviews, and so may read this list; a site administrator without
    // a role in the repository may not.
    const mayAsk = call.repository.archived_at === 0 && members.some(({ id }) => id === call.caller.id);
    if (!mayAsk) throw new ForgeProblem(403, 'doer has no permission to get reviewers');
    return showPeople(call, members);
  },
});

function showPeople({ context, caller }: PeopleCall, people: readonly UserRow[]) {
  return people.map((user) => toUser(context, user, caller));
}

/**
 * Returns collaborators with at least a given permission, and members of teams with access to one of the units, sorted
 * by name; the owner comes last.
 */
function membersOf(
  { context, repository, owner }: PeopleCall,
  { least, units }: { readonly least: 'read' | 'write'; readonly units: readonly ('issues' | 'pulls')[] },
): readonly UserRow[] {
  const rows = context.db.all<UserRow>(
    `SELECT * FROM users WHERE is_active = 1 AND id IN (
       SELECT user_id FROM collaborators
       WHERE repo_id = ?1 AND (?3 = 'read' OR permission IN ('write', 'admin', 'owner'))
       UNION
       SELECT m.user_id FROM team_members m JOIN teams t ON t.id = m.team_id WHERE m.org_id = ?2
         AND (t.includes_all_repositories = 1
           OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = ?1))
         AND ${reachesUnit(...units)}
     ) ORDER BY lower_name`,
    repository.id,
    owner.id,
    least,
  );
  const isOwnerMissing = owner.type === 'user' && !rows.some(({ id }) => id === owner.id);
  return isOwnerMissing ? [...rows, owner] : rows;
}
