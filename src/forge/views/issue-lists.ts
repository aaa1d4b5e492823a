import type { ForgeContext } from '../core/context.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { toIssues } from './issue.ts';
import { loadUsers } from './user.ts';

/** A repository with its owner. */
export type OwnedRepository = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** Returns repositories with their owners by id, in two queries; one that is not there is missing in the map. */
export function loadHomes(
  context: ForgeContext,
  ids: Iterable<number>,
): ReadonlyMap<number, OwnedRepository> {
  const repositories = context.db.all<RepositoryRow>(
    'SELECT * FROM repositories WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify([...new Set(ids)]),
  );
  const owners = loadUsers(
    context,
    repositories.map(({ owner_id }) => owner_id),
  );
  const homes = repositories.flatMap((repository): [number, OwnedRepository][] => {
    const owner = owners.get(repository.owner_id);
    return owner ? [[repository.id, { repository, owner }]] : [];
  });
  return new Map(homes);
}

/** Returns issues of several repositories by their ids as the API shows them. */
export function toIssuesById(
  context: ForgeContext,
  issues: readonly IssueRow[],
  { homes, viewer }: { homes: ReadonlyMap<number, OwnedRepository>; viewer: UserRow | undefined },
) {
  const shapes = new Map<number, ReturnType<typeof toIssues>[number]>();
  for (const [repositoryId, rows] of Map.groupBy(issues, ({ repo_id }) => repo_id)) {
    const home = homes.get(repositoryId);
    if (!home) continue;
    for (const shape of toIssues(context, rows, { ...home, viewer })) shapes.set(shape.id, shape);
  }
  return shapes;
}
