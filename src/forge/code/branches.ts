import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import type { CommitData } from '../git/commit.ts';
import { isRefName } from '../git/names.ts';
import {
  hasNoBranch,
  listBranchNames,
  listRefs,
  moveRefs,
  readBranch,
  readRef,
  readTag,
  resolveRef,
} from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { mayMerge, mayPush } from '../protections/branch-access.ts';
import { loadBranchRules, matchingRule } from '../protections/branch-rules.ts';
import { guardMove, guardRemoval } from '../protections/enforcement.ts';
import { repositoryAddress, toPayloadCommit } from '../views/commit.ts';
import { withPush } from './pushes.ts';

/** Branches, read from git and made and removed there. */
export const branchHandlers = defineHandlers({
  listBranches: async ({ context, query, page, reply, caller, ...target }) => {
    const git = context.git.open(target.repository.id);
    const all = await listBranchNames(git);
    const wanted = (query.q ?? '').toLowerCase();
    const names = all.filter((name) => name.toLowerCase().includes(wanted));
    reply.total(names.length);
    if (all.length === 0) return null;
    const shown = names.slice(page.offset, page.offset + page.limit);
    const heads = await Promise.all(shown.map((name) => readBranch(git, name)));
    const toBranch = createBranchShape(context, target, caller);
    return heads.flatMap((commit, at) => (commit ? [toBranch(shown[at] ?? '', commit)] : []));
  },

  getBranch: async ({ context, params, caller, ...target }) => {
    const commit = await readBranch(context.git.open(target.repository.id), params.branch);
    const toBranch = createBranchShape(context, target, caller);
    return toBranch(params.branch, found(commit, `branch does not exist [name: ${params.branch}]`));
  },

  createBranch: async ({ context, body, caller, ...target }) => {
    const name = body.new_branch_name;
    const git = context.git.open(target.repository.id);
    if (await hasNoBranch(git)) throw new ForgeProblem(404, 'Git Repository is empty.');
    return await withPush(context, { ...target, pusher: caller }, async () => {
      const commit = await findOrigin(git, target, body);
      await guardName(git, name);
      const ref = `refs/heads/${name}`;
      const mover = { db: context.db, ...target, user: caller, git };
      await guardMove(mover, { ref, before: undefined, after: commit.id });
      if (!(await moveRefs(git, [{ name: ref, before: undefined, after: commit.id }]))) {
        throw new ForgeProblem(409, 'The branch already exists.');
      }
      const result = createBranchShape(context, target, caller)(name, commit);
      return { result, changes: [{ ref, before: undefined, after: commit.id }] };
    });
  },

  deleteBranch: async ({ context, params, caller, ...target }) => {
    const name = params.branch;
    const git = context.git.open(target.repository.id);
    await withPush(context, { ...target, pusher: caller }, async () => {
      const before = found(await readBranch(git, name), `branch does not exist [name: ${name}]`).id;
      if (name === target.repository.default_branch) {
        throw new ForgeProblem(403, `can not delete default or pull request target branch: ${name}`);
      }
      guardRemoval(context.db, target.repository.id, name);
      const ref = `refs/heads/${name}`;
      if (!(await moveRefs(git, [{ name: ref, before, after: undefined }]))) {
        throw new ForgeProblem(404, `branch does not exist [name: ${name}]`);
      }
      return { result: undefined, changes: [{ ref, before, after: undefined }] };
    });
    return undefined;
  },
});

async function findOrigin(
  git: GitRepository,
  { repository }: RepositoryTarget,
  body: { old_ref_name?: string | undefined; old_branch_name?: string | undefined },
): Promise<CommitData> {
  if (body.old_ref_name) {
    // Gitea answers 500 here; Forgejo tells the caller that there is no such ref.
    return found(await resolveRef(git, body.old_ref_name), 'The given ref does not exist').commit;
  }
  const name = body.old_branch_name || repository.default_branch;
  return found(await readBranch(git, name), 'The old branch does not exist');
}

async function guardName(git: GitRepository, name: string): Promise<void> {
  if (!isRefName(name)) throw new ForgeProblem(422, `"${name}" is no name of a branch`);
  if (await readRef(git, `refs/heads/${name}`)) throw new ForgeProblem(409, 'The branch already exists.');
  if (await readTag(git, name)) throw new ForgeProblem(409, 'The branch with the same tag already exists.');
  // A ref is a file on disk or beside one: `a` and `a/b` cannot both be.
  const others = (await listRefs(git, ['refs/heads'])).map((ref) => ref.name.slice('refs/heads/'.length));
  if (others.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) {
    throw new ForgeProblem(409, `branch name conflicts with an existing one [name: ${name}]`);
  }
}

/** Returns what shows branches of one repository as the API does, for the eyes of a caller; the rules are read once. */
function createBranchShape(
  context: ForgeContext,
  { repository, owner, permission }: RepositoryTarget,
  caller: UserRow | undefined,
) {
  const { db } = context;
  const place = { db, repository, owner };
  const rules = loadBranchRules(db, repository.id);
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const writes = caller !== undefined && reaches(permission, 'write');
  return (name: string, commit: CommitData) => {
    const rule = matchingRule(rules, name);
    const isHeld = rule !== undefined && caller !== undefined;
    return {
      name,
      commit: toPayloadCommit(db, address, commit),
      protected: rule !== undefined,
      required_approvals: rule?.required_approvals ?? 0,
      enable_status_check: rule?.enable_status_check ?? false,
      status_check_contexts: rule ? rule.status_check_contexts && [...rule.status_check_contexts] : [],
      user_can_push: isHeld ? mayPush(place, rule, caller) : writes,
      user_can_merge: isHeld ? mayMerge(place, rule, caller) : writes,
      // Only administrators of the repository hear which rule it is.
      effective_branch_protection_name: rule && reaches(permission, 'admin') ? rule.rule_name : '',
    };
  };
}
