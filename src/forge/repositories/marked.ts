import { loadUsers } from '../accounts/users-rows.ts';
import { permissionOf, publicRepositories, readableCondition } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { toRepository } from './repositories-rows.ts';

/** Table of starred repositories, or of watched ones. */
type Mark = 'stars' | 'watches';

type MarkedListing = {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly page: PageRange;
  readonly reply: Reply;
};

/**
 * Lists the repositories that an account has starred or watches, in the order in which it marked them. The account
 * itself sees all repositories that it can still read; other accounts see only public repositories of public owners, if
 * they can read these. A token restricted to public resources sees what other accounts see. `permissions` are those of
 * the listed account, as in Gitea.
 */
export function listMarked(call: MarkedListing, mark: Mark, account: UserRow) {
  const { context, caller, page, reply } = call;
  const isOwn = account.id === caller.id;
  const others = [readableCondition(caller), { sql: publicRepositories, values: [] }];
  const conditions = isOwn ? [readableCondition(caller)] : [readableCondition(account), ...others];
  const from = `FROM ${mark} m JOIN repositories r ON r.id = m.repo_id JOIN users o ON o.id = r.owner_id
    WHERE m.user_id = ? AND ${conditions.map(({ sql }) => sql).join(' AND ')}`;
  const values = [account.id, ...conditions.flatMap(({ values }) => values)];
  const counted = context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values);
  // For stars, Gitea reports the account's `starred_repos_count`, which may include hidden repositories.
  reply.total(mark === 'stars' ? account.num_stars : (counted?.count ?? 0));
  const rows = context.db.all<RepositoryRow>(
    `SELECT r.* ${from} ORDER BY m.id LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  const owners = loadUsers(
    context,
    rows.map(({ owner_id }) => owner_id),
  );
  return rows.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    if (!owner) return [];
    const permission = permissionOf(context.db, account, repository, owner);
    return [toRepository(context, repository, { owner, viewer: caller, permission })];
  });
}
