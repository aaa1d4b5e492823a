import { accountByEmail, toUser } from '../accounts/users-rows.ts';
import { findRepository } from '../platform/access/guards.ts';
import { permissionOf } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { type FileChange, listChangesOf } from '../platform/git/changes.ts';
import type { CommitData } from '../platform/git/commit.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { escapePath, type RepositoryAddress, toChangeSummary, toCommitEntry } from './commits-rows.ts';

/**
 * Returns a commit as commit lists show it, with the accounts of its author and committer as an anonymous viewer sees
 * them.
 */
export function toEntry(context: ForgeContext, address: RepositoryAddress, commit: CommitData) {
  return toCommitEntry(context.db, address, commit, (email) => {
    const account = accountByEmail(context.db, email);
    return account ? toUser(context, account, undefined) : null;
  });
}

/** Returns commits as API lists show them, each with its changes. */
export async function toEntries<Entry extends object>(
  git: GitRepository,
  commits: readonly CommitData[],
  toOne: (commit: CommitData) => Entry,
) {
  const ids = commits.map(({ id }) => id);
  const changes = await listChangesOf(git, ids);
  return commits.map((commit) => ({ ...toOne(commit), ...toChangeSummary(changes.get(commit.id) ?? []) }));
}

/**
 * Returns a changed file of a commit as the API shows it. The URLs of a deleted file also refer to that commit, as in
 * Gitea.
 */
export function toChangedFile(address: RepositoryAddress, change: FileChange, commit: string) {
  const path = escapePath(change.path);
  return {
    filename: change.path,
    ...(change.status === 'renamed' ? { previous_filename: change.from } : {}),
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    html_url: `${address.html}/src/commit/${commit}/${path}`,
    contents_url: `${address.api}/contents/${path}?ref=${commit}`,
    raw_url: `${address.html}/raw/commit/${commit}/${path}`,
  };
}

/** A branch of any repository: its repository and its short name. */
export type HeadBranch = RepositoryTarget & { readonly name: string };

/**
 * Parses the `head` of a pull request or comparison, relative to the base: `branch`, `owner:branch` (the owner's fork
 * of the base) or `owner/repo:branch`. Ends the request with 404 if the owner or the named repository is unknown or the
 * caller may not read its code, with 400 if the owner has no fork. Branch names contain no colon, so the first colon is
 * the separator.
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

/** Returns the owner's fork from the whole fork network: a fork of a fork, a sibling fork, or the source itself. */
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
