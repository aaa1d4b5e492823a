import { signatureOf } from '../code/commits-rows.ts';
import { withPush } from '../code/pushes.ts';
import { mayWriteCode, permitCopy } from '../platform/access/code.ts';
import { findPull } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, forbiddenInSilence, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { findMergeBase } from '../platform/git/history.ts';
import { moveRefs, readBranch } from '../platform/git/refs.ts';
import type { CopyPermit, GitRepository } from '../platform/git/repository.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { guardMove, mayHelp } from './enforcement.ts';
import { makeMerge } from './merge-commits.ts';
import { borrowBase, readPullDiff } from './pull-branches-service.ts';

type PullHead = { readonly repository: RepositoryRow; readonly owner: UserRow };

function headOf(context: ForgeContext, pull: PullRow): PullHead {
  const sql = 'SELECT * FROM repositories WHERE id = ?';
  const repository = context.db.get<RepositoryRow>(sql, pull.head_repo_id);
  const owner =
    repository && context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  // Gitea responds with 500 if the fork was deleted.
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

/**
 * Ends the request unless the account may push to the head branch, or may push to the base and the author allows edits
 * by maintainers.
 */
function guardUpdate({ context, pull, issue, base, head, caller, isRebase }: Updating): void {
  const settings = settingsOf(base);
  const allows = isRebase ? settings.allow_rebase_update : settings.allow_merge_update;
  const mayPush =
    mayWriteCode(context.db, caller, head.repository.id) ||
    mayHelp(context.db, { ...pull, poster_id: issue.poster_id }, caller);
  // A head pushed for review has no branch that could be updated.
  if (pull.flow === 1 || !allows || !mayPush) throw forbiddenInSilence();
}

/**
 * Permits copying the base's commits to the head. The caller must be able to read them, and so must the accounts that
 * receive them without requesting it: the author, and the owner of the head.
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

async function update(updating: Updating): Promise<void> {
  const { context, pull, base, head, caller, isRebase } = updating;
  const [headGit, baseGit] = [context.git.open(head.repository.id), context.git.open(base.id)];
  await withPush(context, { ...head, pusher: caller }, async () => {
    await borrowBase(headGit, baseGit, { branch: pull.base_branch, permit: permitUpdate(updating) });
    const onto = found(await readBranch(baseGit, pull.base_branch), 'the base branch is gone');
    const tip = found(await readBranch(headGit, pull.head_branch), 'the head branch is gone');
    const mergeBase = await findMergeBase(headGit, onto.id, tip.id);
    // Gitea responds with 500 if there is nothing to merge.
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

/** Handlers for the diff of a pull request, and for updating its head from the base. */
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

/** Returns the parent repository of a fork, if the caller can read its code. */
function findUpstream({ db }: ForgeContext, fork: RepositoryRow, caller: UserRow) {
  // Gitea responds with 500 for a repository that is not a fork.
  if (fork.fork_id === null) throw new ForgeProblem(400, 'repo is not a fork');
  const upstream = found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', fork.fork_id));
  const permit = permitCopy({ db }, [caller], upstream.id);
  if (!permit) throw new ForgeProblem(403, `permission denied to read base repo ${upstream.id}`);
  return { upstream, permit };
}

/** Returns the upstream branch to merge: the one with the same name, or else the default branch. */
async function findSource(git: GitRepository, upstream: RepositoryRow, branch: string): Promise<string> {
  if ((await readBranch(git, branch)) !== undefined) return branch;
  found(await readBranch(git, upstream.default_branch), `branch does not exist [name: ${branch}]`);
  return upstream.default_branch;
}

type MergeWay = 'up-to-date' | 'fast-forward' | 'merge';

/** Handlers that update a branch of a fork from its upstream repository. */
export const mergeUpstreamHandlers = defineHandlers({
  async mergeUpstream({ context, repository, owner, caller, body }) {
    const { upstream, permit } = findUpstream(context, repository, caller);
    const [git, base] = [context.git.open(repository.id), context.git.open(upstream.id)];
    const branch = body.branch ?? '';
    const merge_type = await withPush(context, { repository, owner, pusher: caller }, async () => {
      const tip = found(await readBranch(git, branch), `branch does not exist [name: ${branch}]`);
      const source = await findSource(base, upstream, branch);
      await borrowBase(git, base, { branch: source, permit });
      const onto = found(await readBranch(base, source));
      const mergeBase = await findMergeBase(git, onto.id, tip.id);
      if (mergeBase === onto.id) return { result: 'up-to-date' as MergeWay, changes: [] };
      const isBehind = mergeBase === tip.id;
      if (!isBehind && body.ff_only)
        throw new ForgeProblem(400, 'fast-forward merge not possible: branch has diverged');
      const committer = signatureOf(context, caller);
      const merge = {
        base: tip,
        head: onto,
        mergeBase: mergeBase ?? tip.id,
        message: 'merge upstream\n',
        committer,
      };
      const after = isBehind ? onto.id : await mergeOf(git, merge);
      const ref = `refs/heads/${branch}`;
      const change = { ref, before: tip.id, after };
      await guardMove({ db: context.db, repository, owner, user: caller, git }, change);
      if (!(await moveRefs(git, [{ name: ref, before: tip.id, after }])))
        throw new ForgeProblem(409, 'the branch was moved meanwhile');
      return { result: (isBehind ? 'fast-forward' : 'merge') as MergeWay, changes: [change] };
    });
    return { merge_type };
  },
});

type UpstreamMerge = Parameters<typeof makeMerge>[2] & { readonly base: CommitData };

/** Merges the upstream branch. Ends the request with 409 on conflict, where Gitea responds with 500. */
async function mergeOf(git: GitRepository, merge: UpstreamMerge): Promise<string> {
  const commit = await makeMerge(git, 'merge', merge);
  if (commit === undefined) throw new ForgeProblem(409, 'merge failed because of conflict');
  return commit;
}
