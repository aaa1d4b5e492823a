import { mayWriteCode, permitCopy } from '../access/code.ts';
import { findPull } from '../access/find-issue.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, forbiddenInSilence, found } from '../core/errors.ts';
import type { IssueRow, PullRow } from '../core/issue-rows.ts';
import { settingsOf } from '../core/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { readDiff } from '../git/diff.ts';
import { findMergeBase } from '../git/history.ts';
import { takeRef } from '../git/merge.ts';
import { moveRefs, readBranch } from '../git/refs.ts';
import type { CopyPermit, GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { guardMove } from '../protections/enforcement.ts';
import { mayHelp } from '../protections/push-enforcement.ts';
import { checkPull } from '../pull-sync/checks.ts';
import { signatureOf } from '../views/signature.ts';
import { makeMerge } from './merge-commits.ts';

type PullHead = { readonly repository: RepositoryRow; readonly owner: UserRow };

function headOf(context: ForgeContext, pull: PullRow): PullHead {
  const sql = 'SELECT * FROM repositories WHERE id = ?';
  const repository = context.db.get<RepositoryRow>(sql, pull.head_repo_id);
  const owner =
    repository && context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  // Gitea answers 500 where the fork is gone.
  if (!repository || !owner) throw new ForgeProblem(404, 'the head repository is gone');
  return { repository, owner };
}

type Updating = {
  readonly context: ForgeContext;
  readonly pull: PullRow;
  readonly issue: IssueRow;
  readonly base: RepositoryRow;
  readonly head: PullHead;
  readonly caller: UserRow;
  readonly isRebase: boolean;
};

/** Accounts that may push to the head branch, and those that may push to the base where the author allows it. */
function guardUpdate({ context, pull, issue, base, head, caller, isRebase }: Updating): void {
  const settings = settingsOf(base);
  const allows = isRebase ? settings.allow_rebase_update : settings.allow_merge_update;
  const mayPush =
    mayWriteCode(context.db, caller, head.repository.id) ||
    mayHelp(context.db, { ...pull, poster_id: issue.poster_id }, caller);
  // What was pushed for review has no branch that could be brought up to date.
  if (pull.flow === 1 || !allows || !mayPush) throw forbiddenInSilence();
}

/**
 * Allows the base's commits to be copied to the head: the caller may read them, and so may those who get them without a call of their
 * own, the author and the person who owns the head.
 */
function permitUpdate({ context, base, issue, head, caller }: Updating): CopyPermit | undefined {
  if (head.repository.id === base.id) return undefined;
  const receivers = [{ id: issue.poster_id }, ...(head.owner.type === 'user' ? [{ id: head.owner.id }] : [])];
  const permit = permitCopy(context, [caller, ...receivers], base.id);
  if (permit) return permit;
  throw new ForgeProblem(
    403,
    'the author or the owner of the head may not read the code of the base any more',
  );
}

/** The base's commits are made known to the head's repository under a ref that goes again. */
export async function borrowBase(
  head: GitRepository,
  base: GitRepository,
  { branch, permit }: { readonly branch: string; readonly permit: CopyPermit | undefined },
): Promise<void> {
  if (head.id === base.id || permit === undefined) return;
  const target = 'refs/reeve/update';
  await takeRef(head, base, { source: `refs/heads/${branch}`, target, permit });
}

async function update(updating: Updating): Promise<void> {
  const { context, pull, base, head, caller, isRebase } = updating;
  const [headGit, baseGit] = [context.git.open(head.repository.id), context.git.open(base.id)];
  await withPush(context, { ...head, pusher: caller }, async () => {
    await borrowBase(headGit, baseGit, { branch: pull.base_branch, permit: permitUpdate(updating) });
    const onto = found(await readBranch(baseGit, pull.base_branch), 'the base branch is gone');
    const tip = found(await readBranch(headGit, pull.head_branch), 'the head branch is gone');
    const mergeBase = await findMergeBase(headGit, onto.id, tip.id);
    // Gitea answers 500 where there is nothing to bring in.
    if (mergeBase === onto.id) throw new ForgeProblem(409, `HeadBranch of PR ${pull.number} is up to date`);
    const committer = signatureOf(context, caller);
    const message = `Merge branch '${pull.base_branch}' into ${pull.head_branch}\n`;
    const common = { mergeBase: mergeBase ?? onto.id, message, committer };
    const after = isRebase
      ? await makeMerge(headGit, 'rebase', { ...common, base: onto, head: tip })
      : await makeMerge(headGit, 'merge', { ...common, base: tip, head: onto });
    const way = isRebase ? 'rebase' : 'merge';
    if (after === undefined) throw new ForgeProblem(409, `${way} failed because of conflict`);
    const ref = `refs/heads/${pull.head_branch}`;
    await guardMove({ db: context.db, ...head, user: caller, git: headGit }, { ref, before: tip.id, after });
    if (!(await moveRefs(headGit, [{ name: ref, before: tip.id, after }]))) {
      throw new ForgeProblem(409, 'the head branch was moved meanwhile');
    }
    return { result: undefined, changes: [{ ref, before: tip.id, after }] };
  });
}

/** Returns what a pull request changes, as text. Ends the request with 404 where there is no pull request of this number. */
export async function readPullDiff(
  context: ForgeContext,
  wanted: {
    readonly target: RepositoryTarget;
    readonly number: number;
    readonly kind: 'diff' | 'patch';
    readonly binary: boolean;
  },
) {
  const { target, number, kind, binary } = wanted;
  const { pull: before } = findPull(context, target, number);
  if (before.status === 'checking') await checkPull(context, before.id);
  const { pull } = findPull(context, target, number);
  const git = context.git.open(target.repository.id);
  return await readDiff(git, pull.merge_base, pull.head_sha, { kind, binary });
}

/** The two branches of a pull request: their difference as text, and bringing the head up to date. */
export const pullBranchHandlers = defineHandlers({
  getPullDiff({ context, params, query, ...target }) {
    const kind = params.diffType;
    return readPullDiff(context, { target, number: params.index, kind, binary: query.binary ?? false });
  },

  async updatePull({ context, params, query, caller, repository, owner, permission }) {
    const { pull, issue } = findPull(context, { repository, owner, permission }, params.index);
    if (pull.is_merged === 1) throw new ForgeProblem(422, 'pull request is already merged');
    if (issue.is_closed === 1) throw new ForgeProblem(422, 'pull request is already closed');
    const isRebase = query.style === 'rebase';
    const head = headOf(context, pull);
    const updating = { context, pull, issue, base: repository, head, caller, isRebase };
    guardUpdate(updating);
    await update(updating);
    return undefined;
  },
});
