import { toVerification } from '../accounts/gpg-keys-rows.ts';
import { mayWriteCode } from '../platform/access/code.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { type CommitData, parseCommit } from '../platform/git/commit.ts';
import { findMergeBase, isAncestor } from '../platform/git/history.ts';
import type { RefChange } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, Permission, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import {
  type BranchRule,
  compileFilePatterns,
  findBranchRule,
  hasTagRules,
  mayControlTag,
  mayForcePush,
  mayPush,
  type RulePlace,
  readBranchRule,
} from './protections-service.ts';

type SignedPlace = { readonly db: Database; readonly git: GitRepository };

/** Commits that are read at a time. */
const batch = 500;

/**
 * Returns the id of a commit that a branch gets and whose signature the forge does not know; undefined where there is none.
 * For a new branch, of those that no other ref has. `git` may have commits that are not taken yet.
 */
export async function findUnverified(
  { db, git }: SignedPlace,
  before: string | undefined,
  after: string,
): Promise<string | undefined> {
  const range = before === undefined ? [after, '--not', '--all'] : [`${before}...${after}`];
  const { stdout } = await git.git.run(['rev-list', ...range, '--'], { folder: git.folder });
  const ids = stdout.toString('latin1').split('\n').filter(Boolean);
  for (let at = 0; at < ids.length; at += batch) {
    const commits = await readRawCommits(git, ids.slice(at, at + batch));
    const unverified = commits.find((commit) => !toVerification(db, commit).verified);
    if (unverified) return unverified.id;
  }
  return undefined;
}

/** Unlike the reader of objects, also those of a push that git has not taken. */
async function readRawCommits(git: GitRepository, ids: readonly string[]): Promise<readonly CommitData[]> {
  const { stdout } = await git.git.run(['cat-file', '--batch'], {
    folder: git.folder,
    input: `${ids.join('\n')}\n`,
  });
  const commits: CommitData[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0x0a, at);
    const [id = '', , size = '0'] = stdout.toString('latin1', at, end).split(' ');
    const start = end + 1;
    commits.push(parseCommit(id, stdout.subarray(start, start + Number(size))));
    at = start + Number(size) + 1;
  }
  return commits;
}

/** What protections refuse, whichever way a ref is about to move. */

/** Who moves refs, and where. `git` sees the new commits, even those that are not taken yet. */
type Mover = RulePlace & { readonly user: UserRow; readonly git: GitRepository };

const readOnly = 'mirror repository is read-only';

/** Ends the request with 423 for a mirror: what is written to it would be gone after the next synchronization. */
export function refuseMirror({ is_mirror }: RepositoryRow): void {
  if (is_mirror === 1) throw new ForgeProblem(423, readOnly);
}

/** Returns whether a repository has any rule that a push could break. */
function hasRules(db: Database, repositoryId: number): boolean {
  const sql = 'SELECT 1 AS one FROM branch_protections WHERE repo_id = ? LIMIT 1';
  return db.get(sql, repositoryId) !== undefined || hasTagRules(db, repositoryId);
}

/** Returns why a ref must not move like this, as the message for the pusher; undefined where it may. */
async function moveRefusal(mover: Mover, change: RefChange): Promise<string | undefined> {
  if (mover.repository.is_mirror === 1) return readOnly;
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(change.ref) ?? [];
  if (kind === 'tags') return mayControlTag(mover, name, mover.user) ? undefined : `Tag ${name} is protected`;
  const rule = kind === 'heads' ? findBranchRule(mover.db, mover.repository.id, name) : undefined;
  return rule && (await refusalOfBranch(mover, rule, name, change));
}

/** Ends the request with 403 where a protection refuses that a ref moves so. */
export async function guardMove(mover: Mover, change: RefChange): Promise<void> {
  const refusal = await moveRefusal(mover, change);
  if (refusal !== undefined) throw new ForgeProblem(403, refusal);
}

/** The order is Gitea's: removing and rewriting first, then the files, then who it is. */
async function refusalOfBranch(
  mover: Mover,
  rule: BranchRule,
  branch: string,
  { before, after }: RefChange,
): Promise<string | undefined> {
  if (after === undefined) return `branch ${branch} is protected from deletion`;
  const isForced = before !== undefined && !(await isAncestor(mover.git, before, after));
  if (isForced && !rule.enable_force_push) return `branch ${branch} is protected from force push`;
  const unsigned = rule.require_signed_commits && (await findUnverified(mover, before, after));
  if (unsigned) return `branch ${branch} is protected from unverified commit ${unsigned}`;
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  const isFree = compileFilePatterns(rule.unprotected_file_patterns);
  const isAllowed = isForced ? mayForcePush(mover, rule, mover.user) : mayPush(mover, rule, mover.user);
  if (isAllowed && !isProtected) return undefined;
  const files = isProtected || isFree ? await listAffected(mover, before, after) : [];
  const held = isProtected && files.find(isProtected);
  if (held !== undefined) return `branch ${branch} is protected from changing file ${held}`;
  if (isAllowed || (isFree && files.every(isFree))) return undefined;
  return `Not allowed to ${isForced ? 'force-push' : 'push'} to protected branch ${branch}`;
}

/** Of the tree that has nothing in it: git knows these two without having stored them. */
const emptyTrees = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/** A new branch is held against the point where it left the default branch. */
async function listAffected(
  { git, repository }: Mover,
  before: string | undefined,
  after: string,
): Promise<readonly string[]> {
  const from = before ?? (await findOrigin(git, repository.default_branch, after));
  return await listChangedPaths(git, from ?? emptyTrees[repository.object_format], after);
}

async function findOrigin(git: GitRepository, branch: string, after: string): Promise<string | undefined> {
  const { stdout, code } = await git.git.run(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/heads/${branch}^{commit}`],
    { folder: git.folder, expect: [0, 1, 128] },
  );
  return code === 0 ? await findMergeBase(git, stdout.toString('latin1').trim(), after) : undefined;
}

/** Returns every path that differs between two commits or trees; a file that moved counts with both its names. */
export async function listChangedPaths(
  git: GitRepository,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const { stdout } = await git.git.run(
    ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--'],
    { folder: git.folder },
  );
  return stdout.toString('utf8').split('\0').filter(Boolean);
}

/** Ends the request with 403 where a rule keeps an account from writing these files of a branch. */
export function guardFiles(place: RulePlace, user: UserRow, branch: string, paths: readonly string[]): void {
  const rule = findBranchRule(place.db, place.repository.id, branch);
  if (!rule) return;
  const isAllowed = mayPush(place, rule, user);
  const isFree = compileFilePatterns(rule.unprotected_file_patterns);
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  for (const path of paths) {
    if (!isAllowed && !isFree?.(path)) {
      throw new ForgeProblem(403, `${user.name} may not commit to the protected branch ${branch}`);
    }
    if (isProtected?.(path))
      throw new ForgeProblem(403, `path is protected and can not be changed [path: ${path}]`);
  }
  // The forge has no key of its own.
  if (rule.require_signed_commits) {
    throw new ForgeProblem(403, `${user.name} may not commit to the protected branch ${branch}`);
  }
}

/** Ends the request with 403 where a branch is protected, whatever is asked of it. */
export function guardRemoval(db: Database, repositoryId: number, branch: string): void {
  if (findBranchRule(db, repositoryId, branch)) throw new ForgeProblem(403, `branch protected: ${branch}`);
}

/** Ends the request with 403 where a pattern holds a branch that shall get another name. */
export function guardRename(db: Database, repositoryId: number, from: string): void {
  if (readBranchRule(db, repositoryId, from) || !findBranchRule(db, repositoryId, from)) return;
  throw new ForgeProblem(403, 'the branch is protected by a pattern and keeps its name');
}

/** A rule of exactly the old name goes with a renamed branch, unless the new name has one already. */
export function renameRule(db: Database, repositoryId: number, from: string, to: string): void {
  const own = readBranchRule(db, repositoryId, from);
  if (!own || readBranchRule(db, repositoryId, to)) return;
  db.run('UPDATE branch_protections SET rule_name = ? WHERE id = ?', to, own.id);
}

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
