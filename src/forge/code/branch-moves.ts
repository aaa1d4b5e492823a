import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { isAncestor } from '../git/history.ts';
import { isRefName } from '../git/names.ts';
import { hasNoBranch, listRefs, moveRefs, readBranch, resolveRef } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { guardMove, guardRename, renameRule } from '../protections/enforcement.ts';
import { emitRename, withPush } from './pushes.ts';

type BranchMove = RepositoryTarget & Pick<HandlerCall, 'context'> & { readonly caller: UserRow };

async function requireCommits(git: GitRepository): Promise<void> {
  if (await hasNoBranch(git)) throw new ForgeProblem(404, 'Git Repository is empty.');
}

/** Pull requests, the default branch and the repository's HEAD go with the new name; closes nothing. */
async function rename(place: BranchMove, from: string, to: string): Promise<void> {
  const { context, repository, owner, caller, permission } = place;
  const git = context.git.open(repository.id);
  await requireCommits(git);
  if (!isRefName(to) || to.length > 100)
    throw new ForgeProblem(422, `[Name]: "${to}" is no name of a branch`);
  await context.git.exclusively(repository.id, 'refs', async () => {
    if (from === to || (await readBranch(git, to))) {
      throw new ForgeProblem(422, 'Cannot rename a branch to its own name or to one that already exists.');
    }
    const { id } = found(await readBranch(git, from), "Branch doesn't exist.");
    const isDefault = from === repository.default_branch;
    if (isDefault && !reaches(permission, 'admin')) {
      throw new ForgeProblem(403, 'User must be a repo or site admin to rename the default branch.');
    }
    const names = (await listRefs(git, ['refs/heads'])).map(({ name }) => name.slice('refs/heads/'.length));
    const isInTheWay = (other: string) =>
      other !== from && (other.startsWith(`${to}/`) || to.startsWith(`${other}/`));
    if (names.some(isInTheWay)) throw new ForgeProblem(422, `the name conflicts with another branch: ${to}`);
    guardRename(context.db, repository.id, from);
    await moveName(git, { from, to, id });
    if (isDefault) await context.git.setDefaultBranch(repository.id, to);
    context.db.transaction(() => {
      const { db } = context;
      renameRule(db, repository.id, from, to);
      db.run(
        'UPDATE pulls SET base_branch = ? WHERE repo_id = ? AND base_branch = ? AND is_merged = 0',
        to,
        repository.id,
        from,
      );
      db.run(
        'UPDATE pulls SET head_branch = ? WHERE head_repo_id = ? AND head_branch = ? AND flow = 0 AND is_merged = 0',
        to,
        repository.id,
        from,
      );
      if (isDefault) db.run('UPDATE repositories SET default_branch = ? WHERE id = ?', to, repository.id);
      emitRename(context, { repository, owner, pusher: caller }, { from, to, sha: id });
    });
  });
}

/** `a` cannot become `a/b` in one step: one of the two names is a file where the other needs a folder. */
async function moveName(
  git: GitRepository,
  { from, to, id }: { from: string; to: string; id: string },
): Promise<void> {
  const going = { name: `refs/heads/${from}`, before: id, after: undefined };
  const coming = { name: `refs/heads/${to}`, before: undefined, after: id };
  const isNested = from.startsWith(`${to}/`) || to.startsWith(`${from}/`);
  const isDone = isNested
    ? (await moveRefs(git, [going])) && (await moveRefs(git, [coming]))
    : await moveRefs(git, [going, coming]);
  if (!isDone) throw new ForgeProblem(422, 'the branch was moved by another request meanwhile');
}

/** Branches moved to another commit or name. */
export const branchMoveHandlers = defineHandlers({
  async updateBranch(call) {
    const { context, params, body, repository, owner, caller } = call;
    const git = context.git.open(repository.id);
    await requireCommits(git);
    await withPush(context, { repository, owner, pusher: caller }, async () => {
      const before = found(await readBranch(git, params.branch), 'not found').id;
      if (body.old_commit_id) {
        const expected = (await resolveRef(git, body.old_commit_id))?.commit.id;
        if (expected !== before) {
          throw new ForgeProblem(
            422,
            `branch commit does not match [expected: ${body.old_commit_id}, given: ${before}]`,
          );
        }
      }
      // Gitea answers 500 for a commit that does not exist.
      const { commit } = found(await resolveRef(git, body.new_commit_id), 'the new commit does not exist');
      if (commit.id === before) return { result: undefined, changes: [] };
      if (!body.force && !(await isAncestor(git, before, commit.id))) {
        throw new ForgeProblem(422, `Force push ${params.branch} need a confirm force parameter`);
      }
      const ref = `refs/heads/${params.branch}`;
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardMove(mover, { ref, before, after: commit.id });
      if (!(await moveRefs(git, [{ name: ref, before, after: commit.id }]))) {
        throw new ForgeProblem(422, 'the branch was moved by another request meanwhile');
      }
      return { result: undefined, changes: [{ ref, before, after: commit.id }] };
    });
    return undefined;
  },

  async renameBranch(call) {
    await rename(call, call.params.branch, call.body.name);
    return undefined;
  },
});
