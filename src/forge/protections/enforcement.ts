import type { Database } from '../core/database.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { findMergeBase, isAncestor } from '../git/history.ts';
import type { RefChange } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { mayForcePush, mayPush, type RulePlace } from './branch-access.ts';
import { type BranchRule, compileFilePatterns, findBranchRule, readBranchRule } from './branch-rules.ts';
import { findUnverified } from './signed-commits.ts';
import { hasTagRules, mayControlTag } from './tag-protections.ts';

/** What protections refuse, whichever way a ref is about to move. */

/** Who moves refs, and where. `git` sees the new commits, even those that are not taken yet. */
export type Mover = RulePlace & { readonly user: UserRow; readonly git: GitRepository };

const readOnly = 'mirror repository is read-only';

/** Ends the request with 423 for a mirror: what is written to it would be gone after the next synchronization. */
export function refuseMirror({ is_mirror }: RepositoryRow): void {
  if (is_mirror === 1) throw new ForgeProblem(423, readOnly);
}

/** Returns whether a repository has any rule that a push could break. */
export function hasRules(db: Database, repositoryId: number): boolean {
  const sql = 'SELECT 1 AS one FROM branch_protections WHERE repo_id = ? LIMIT 1';
  return db.get(sql, repositoryId) !== undefined || hasTagRules(db, repositoryId);
}

/** Returns why a ref must not move like this, as the message for the pusher; undefined where it may. */
export async function moveRefusal(mover: Mover, change: RefChange): Promise<string | undefined> {
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
