import { findRepository } from '../access/guards.ts';
import { permissionOf } from '../access/permissions.ts';
import { userNamed } from '../access/redirects.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';

/** A branch somewhere: its repository and its short name. */
export type HeadBranch = RepositoryTarget & { readonly name: string };

/**
 * Reads the `head` of a pull request or comparison, seen from the base: `branch`, `owner:branch` (the owner's fork of
 * the base) or `owner/repo:branch`. Ends the request with 404 where the owner or the named repository is unknown or the caller may
 * not read its code, with 400 where the owner has no fork. Colons are in no branch name, so the first one always separates.
 */
export function findHead(
  context: ForgeContext,
  base: RepositoryTarget,
  word: string,
  caller: UserRow | undefined,
): HeadBranch {
  const colon = word.indexOf(':');
  if (colon < 0) return { ...base, name: word };
  const [place, name] = [word.slice(0, colon), word.slice(colon + 1)];
  const [ownerName = '', repositoryName] = place.split('/');
  if (repositoryName !== undefined) {
    const named = findRepository(context.db, ownerName, repositoryName, caller, 'code');
    return { ...requireReadable(named), name };
  }
  const owner = found(userNamed(context.db, ownerName), `user does not exist [name: ${ownerName}]`);
  if (owner.id === base.owner.id) return { ...base, name };
  const repository = findFork(context, base.repository, owner);
  if (!repository) throw new ForgeProblem(400, `${ownerName} has no fork of ${base.repository.name}`);
  const permission = permissionOf(context.db, caller, repository, owner, 'code');
  return { ...requireReadable({ repository, owner, permission }), name };
}

function requireReadable(head: RepositoryTarget): RepositoryTarget {
  if (head.permission === 'none') throw new ForgeProblem(404, 'not found');
  return head;
}

/** Looks through the whole network of forks: a fork of a fork, a sister fork, the source itself. */
function findFork(context: ForgeContext, base: RepositoryRow, owner: UserRow): RepositoryRow | undefined {
  return context.db.get<RepositoryRow>(
    `WITH RECURSIVE
       up (id, fork_id) AS (SELECT id, fork_id FROM repositories WHERE id = ?1
         UNION SELECT r.id, r.fork_id FROM repositories r JOIN up ON r.id = up.fork_id),
       network (id) AS (SELECT id FROM up UNION SELECT r.id FROM repositories r JOIN network n ON r.fork_id = n.id)
     SELECT r.* FROM repositories r JOIN network n ON n.id = r.id WHERE r.owner_id = ?2 ORDER BY r.id LIMIT 1`,
    base.id,
    owner.id,
  );
}
