import { mayWriteCode } from '../access/code.ts';
import { permissionOf, reaches } from '../access/permissions.ts';
import type { Database } from '../core/database.ts';
import type { IssueRow, PullRow } from '../core/issue-rows.ts';
import { settingsOf } from '../core/repository-settings.ts';
import type { Permission, UserRow } from '../core/rows.ts';
import type { RefChange } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { hasRules, type Mover, moveRefusal } from './enforcement.ts';

/** Who pushes, and what the account may do with the code of the repository. */
type Pusher = Mover & { readonly permission: Permission };

/** The part of a ref's name that asks for a pull request: `refs/for/BASE/TOPIC`. */
export const reviewPrefix = 'refs/for/';

/** More than any person asks for in one push. */
const maxForReview = 100;

/**
 * Holds a push against permissions and protections before git takes it. Returns why it is refused, as the message for the pusher;
 * undefined where it may go on. One refused ref takes the others along, as with a hook of Gitea. `unpack` returns a
 * repository that has the commits of the push; undefined where its pack is broken.
 */
export async function pushRefusal(
  pusher: Pusher,
  changes: readonly RefChange[],
  unpack: () => Promise<GitRepository | undefined>,
): Promise<string | undefined> {
  const { db, repository } = pusher;
  if (changes.filter(({ ref }) => ref.startsWith(reviewPrefix)).length > maxForReview) {
    return `more than ${maxForReview} pull requests in one push`;
  }
  for (const change of changes) {
    const refusal = change.ref.startsWith(reviewPrefix)
      ? refusalOfReview(pusher)
      : refusalOfWriter(pusher, change);
    if (refusal !== undefined) return refusal;
  }
  if (!hasRules(db, repository.id)) return undefined;
  const git = await unpack();
  // Git may read the push in another way than this forge, and must not take what was not held against the rules.
  if (!git) return 'unpack failed: the pack of this push cannot be read';
  for (const change of changes) {
    const refusal = await moveRefusal({ ...pusher, git }, change);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Reading pull requests is enough to ask for one. */
function refusalOfReview({ db, repository, owner, user }: Pusher): string | undefined {
  const isOpen = settingsOf(repository).has_pull_requests;
  if (!isOpen || permissionOf(db, user, repository, owner, 'pulls') === 'none') {
    return 'User permission denied for creating pull-request.';
  }
  return repository.is_empty === 1 ? "Can't create pull request for an empty repository." : undefined;
}

function refusalOfWriter(pusher: Pusher, { ref, after }: RefChange): string | undefined {
  const { repository, permission } = pusher;
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
  const mayWrite = reaches(permission, 'write') || (branch !== undefined && mayHelpBranch(pusher, branch));
  if (!mayWrite) return 'User permission denied for writing.';
  if (after === undefined && branch === repository.default_branch) {
    return `branch ${branch} is the default branch and cannot be deleted`;
  }
  return undefined;
}

/** A pull request, as far as it may let others push to its head. */
type HelpedPull = Pick<PullRow, 'repo_id' | 'head_repo_id' | 'allow_maintainer_edit'> &
  Pick<IssueRow, 'poster_id'>;

/**
 * Returns whether an account may push to the head of a pull request because of the pull request: its author, who may write to the head
 * now, lets those do it who may write to the base, and the account may do that now. An author who may read the head alone gives
 * nothing away: pull requests can be opened from any branch that their author can read.
 */
export function mayHelp(db: Database, pull: HelpedPull, user: UserRow): boolean {
  return (
    pull.allow_maintainer_edit === 1 &&
    mayWriteCode(db, { id: pull.poster_id }, pull.head_repo_id) &&
    mayWriteCode(db, user, pull.repo_id)
  );
}

function mayHelpBranch({ db, repository, user }: Pusher, branch: string): boolean {
  const pulls = db.all<HelpedPull>(
    `SELECT p.repo_id, p.head_repo_id, p.allow_maintainer_edit, i.poster_id FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.head_repo_id = ? AND p.head_branch = ? AND p.flow = 0 AND p.allow_maintainer_edit = 1 AND i.is_closed = 0`,
    repository.id,
    branch,
  );
  return pulls.some((pull) => mayHelp(db, pull, user));
}
