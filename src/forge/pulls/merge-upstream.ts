import { permitCopy } from '../access/code.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import type { CommitData } from '../git/commit.ts';
import { findMergeBase } from '../git/history.ts';
import { moveRefs, readBranch } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { guardMove } from '../protections/enforcement.ts';
import { signatureOf } from '../views/signature.ts';
import { borrowBase } from './branches.ts';
import { makeMerge } from './merge-commits.ts';

/** Returns the repository that a fork comes from, if the caller can read its code. */
function findUpstream({ db }: ForgeContext, fork: RepositoryRow, caller: UserRow) {
  // Gitea answers 500 for a repository that is no fork.
  if (fork.fork_id === null) throw new ForgeProblem(400, 'repo is not a fork');
  const upstream = found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', fork.fork_id));
  const permit = permitCopy({ db }, [caller], upstream.id);
  if (!permit) throw new ForgeProblem(403, `permission denied to read base repo ${upstream.id}`);
  return { upstream, permit };
}

/** Returns the branch to take commits from: that of the same name, or the default one. */
async function findSource(git: GitRepository, upstream: RepositoryRow, branch: string): Promise<string> {
  if ((await readBranch(git, branch)) !== undefined) return branch;
  found(await readBranch(git, upstream.default_branch), `branch does not exist [name: ${branch}]`);
  return upstream.default_branch;
}

type MergeWay = 'up-to-date' | 'fast-forward' | 'merge';

/** Brings a branch of a fork up to date with the repository that it comes from. */
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

/** Gitea answers 500 where the two conflict. */
async function mergeOf(git: GitRepository, merge: UpstreamMerge): Promise<string> {
  const commit = await makeMerge(git, 'merge', merge);
  if (commit === undefined) throw new ForgeProblem(409, 'merge failed because of conflict');
  return commit;
}
