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

/** Maximum commits read at a time. */
const batch = 500;

/**
 * Returns the id of a new commit on a branch whose signature the forge cannot verify; undefined if there is none. For a
 * new branch, only commits that no other ref contains are checked. `git` may contain commits that are not accepted yet.
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

/** Reads commits, including those of a push that git has not accepted yet, which the object reader cannot read. */
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

/** The functions below decide whether protections refuse a ref move, for every way of moving a ref. */

/**
 * The account that moves refs, and the repository. `git` can read the new commits, even if they are not accepted yet.
 */
type Mover = RulePlace & { readonly user: UserRow; readonly git: GitRepository };

const readOnly = 'mirror repository is read-only';

/** Ends the request with 423 for a mirror: the next synchronization would overwrite any change. */
export function refuseMirror({ is_mirror }: RepositoryRow): void {
  if (is_mirror === 1) throw new ForgeProblem(423, readOnly);
}

/** Returns whether a repository has any rule that a push could violate. */
function hasRules(db: Database, repositoryId: number): boolean {
  const sql = 'SELECT 1 AS one FROM branch_protections WHERE repo_id = ? LIMIT 1';
  return db.get(sql, repositoryId) !== undefined || hasTagRules(db, repositoryId);
}

/** Returns why a ref move is refused, worded for the pusher; undefined if it is allowed. */
async function moveRefusal(mover: Mover, change: RefChange): Promise<string | undefined> {
  if (mover.repository.is_mirror === 1) return readOnly;
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(change.ref) ?? [];
  if (kind === 'tags') return mayControlTag(mover, name, mover.user) ? undefined : `Tag ${name} is protected`;
  const rule = kind === 'heads' ? findBranchRule(mover.db, mover.repository.id, name) : undefined;
  return rule && (await refusalOfBranch(mover, rule, name, change));
}

/** Ends the request with 403 if a protection refuses a ref move. */
export async function guardMove(mover: Mover, change: RefChange): Promise<void> {
  const refusal = await moveRefusal(mover, change);
  if (refusal !== undefined) throw new ForgeProblem(403, refusal);
}

/**
 * Returns why a rule refuses a ref move. The order of the checks is Gitea's: deletion and force-push first, then the
 * files, then the account.
 */
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

/** Ids of the empty tree, which git knows without storing it. */
const emptyTrees = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/** Returns the paths that a ref move changes. A new branch is compared with its merge base with the default branch. */
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

/** Returns every path that differs between two commits or trees; a moved file counts with both its paths. */
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

/** Ends the request with 403 if a rule prevents an account from writing these files on a branch. */
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
  // The forge has no signing key.
  if (rule.require_signed_commits) {
    throw new ForgeProblem(403, `${user.name} may not commit to the protected branch ${branch}`);
  }
}

/** Ends the request with 403 if any rule protects a branch, regardless of the rule's settings. */
export function guardRemoval(db: Database, repositoryId: number, branch: string): void {
  if (findBranchRule(db, repositoryId, branch)) throw new ForgeProblem(403, `branch protected: ${branch}`);
}

/** Ends the request with 403 if a branch to be renamed is protected by a rule with a pattern. */
export function guardRename(db: Database, repositoryId: number, from: string): void {
  if (readBranchRule(db, repositoryId, from) || !findBranchRule(db, repositoryId, from)) return;
  throw new ForgeProblem(403, 'the branch is protected by a pattern and keeps its name');
}

/** Renames the rule that has exactly the name of a renamed branch, unless the new name already has a rule. */
export function renameRule(db: Database, repositoryId: number, from: string, to: string): void {
  const own = readBranchRule(db, repositoryId, from);
  if (!own || readBranchRule(db, repositoryId, to)) return;
  db.run('UPDATE branch_protections SET rule_name = ? WHERE id = ?', to, own.id);
}

/** The pushing account, with its permission for the code of the repository. */
type Pusher = Mover & { readonly permission: Permission };

/** The ref prefix that opens a pull request: `refs/for/BASE/TOPIC`. */
export const reviewPrefix = 'refs/for/';

/** Maximum pull requests in one push, more than any user opens at once. */
const maxForReview = 100;

/**
 * Checks a push against permissions and protections before git accepts it. Returns why it is refused, worded for the
 * pusher; undefined if it is allowed. If one ref is refused, all refs are, as with a Gitea hook. `unpack` returns a
 * repository that contains the commits of the push; undefined if its pack is broken.
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
  // Git may parse the push differently than this forge does, and must not accept anything that was not checked against
  // the rules.
  if (!git) return 'unpack failed: the pack of this push cannot be read';
  for (const change of changes) {
    const refusal = await moveRefusal({ ...pusher, git }, change);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Returns why an account may not open a pull request by push. Read access to pull requests is enough. */
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

/** The fields of a pull request that determine whether others may push to its head. */
type HelpedPull = Pick<PullRow, 'repo_id' | 'head_repo_id' | 'allow_maintainer_edit'> &
  Pick<IssueRow, 'poster_id'>;

/**
 * Returns whether an account may push to the head of a pull request through "allow edits by maintainers". The author
 * must have allowed it and must currently be able to write to the head; the account must currently be able to write to
 * the base. An author with only read access to the head grants nothing, because a pull request can be opened from any
 * branch that its author can read.
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
