import { ForgeProblem } from '../core/errors.ts';
import { applyPatch } from '../git/apply-patch.ts';
import { commitTree } from '../git/merge.ts';
import { isRefName } from '../git/names.ts';
import { moveRefs, readBranch, readCommit } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { guardMove, refuseMirror } from '../protections/enforcement.ts';
import { repositoryAddress, toFileCommit } from '../views/commit.ts';
import { toVerification } from '../views/verification.ts';
import { commitMessage, signaturesOf } from './files.ts';
import { withPush } from './pushes.ts';

/** A patch as a commit: applied by git to the tip of a branch, and a push like any other. */
export const patchHandlers = defineHandlers({
  async applyDiffPatch({ body, ...call }) {
    const { context, repository, owner, caller } = call;
    refuseMirror(repository);
    const branch = body.branch || repository.default_branch;
    const target = body.new_branch || branch;
    const git = context.git.open(repository.id);
    const commit = await withPush(context, { repository, owner, pusher: caller }, async () => {
      const head = await readBranch(git, branch);
      if (!head) throw new ForgeProblem(404, `branch does not exist [name: ${branch}]`);
      const isTaken = target !== branch && (await readBranch(git, target)) !== undefined;
      if (isTaken || !isRefName(target))
        throw new ForgeProblem(422, `branch already exists or is no name of one [name: ${target}]`);
      const tree = await applyPatch(git, head.id, body.content);
      // Both forges answer 500.
      if (tree === undefined) throw new ForgeProblem(422, 'git apply error: the patch does not apply');
      const people = signaturesOf(call, body);
      const message = commitMessage(
        [],
        { ...body, message: body.message || 'apply-patch' },
        people.committer,
      );
      const after = await commitTree(git, tree, { parents: [head.id], message, ...people });
      const change = { ref: `refs/heads/${target}`, before: target === branch ? head.id : undefined, after };
      await guardMove({ db: context.db, repository, owner, user: caller, git }, change);
      if (!(await moveRefs(git, [{ ...change, name: change.ref }]))) {
        throw new ForgeProblem(409, 'the branch was moved meanwhile');
      }
      return { result: await readCommit(git, after), changes: [change] };
    });
    if (!commit) throw new TypeError('the commit of a patch is gone right after it was written');
    const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    return {
      content: null,
      commit: toFileCommit(address, commit),
      verification: toVerification(context.db, commit),
    };
  },
});
