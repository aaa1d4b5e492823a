import { requireCopy } from '../platform/access/code.ts';
import { reaches } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { countCommits, findMergeBase, isAncestor, listCommits } from '../platform/git/history.ts';
import { isRefName } from '../platform/git/names.ts';
import {
  hasNoBranch,
  listBranchNames,
  listRefs,
  moveRefs,
  readBranch,
  readRef,
  readTag,
  resolveRef,
} from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { defineHandlers, type HandlerCall } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import { guardMove, guardRemoval, guardRename, renameRule } from '../pulls/enforcement.ts';
import { loadBranchRules, matchingRule, mayMerge, mayPush } from '../pulls/protections-service.ts';
import { findHead, toEntries, toEntry } from './branches-service.ts';
import { repositoryAddress, toPayloadCommit } from './commits-rows.ts';
import { emitRename, withPush } from './pushes.ts';

/** Handlers for branches, which are read and written in git. */
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
    // Gitea responds with 500 here; Forgejo reports that the ref does not exist.
    return found(await resolveRef(git, body.old_ref_name), 'The given ref does not exist').commit;
  }
  const name = body.old_branch_name || repository.default_branch;
  return found(await readBranch(git, name), 'The old branch does not exist');
}

async function guardName(git: GitRepository, name: string): Promise<void> {
  if (!isRefName(name)) throw new ForgeProblem(422, `"${name}" is not a valid branch name`);
  if (await readRef(git, `refs/heads/${name}`)) throw new ForgeProblem(409, 'The branch already exists.');
  if (await readTag(git, name)) throw new ForgeProblem(409, 'The branch with the same tag already exists.');
  // Branches `a` and `a/b` cannot both exist: git stores a ref as a file, and `a` would be both a file and a folder. A
  // packed ref conflicts as well.
  const others = (await listRefs(git, ['refs/heads'])).map((ref) => ref.name.slice('refs/heads/'.length));
  if (others.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) {
    throw new ForgeProblem(409, `branch name conflicts with an existing one [name: ${name}]`);
  }
}

/**
 * Returns a function that converts branches of one repository to the API form for a caller; the branch rules are read
 * once.
 */
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
      // Only repository administrators see the rule's name.
      effective_branch_protection_name: rule && reaches(permission, 'admin') ? rule.rule_name : '',
    };
  };
}

type BranchMove = RepositoryTarget & Pick<HandlerCall, 'context'> & { readonly caller: UserRow };

async function requireCommits(git: GitRepository): Promise<void> {
  if (await hasNoBranch(git)) throw new ForgeProblem(404, 'Git Repository is empty.');
}

/**
 * Renames a branch; updates pull requests, the default branch and the repository's HEAD to the new name, and closes no
 * pull request.
 */
async function rename(place: BranchMove, from: string, to: string): Promise<void> {
  const { context, repository, owner, caller, permission } = place;
  const git = context.git.open(repository.id);
  await requireCommits(git);
  if (!isRefName(to) || to.length > 100)
    throw new ForgeProblem(422, `[Name]: "${to}" is not a valid branch name`);
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

/**
 * Renames the ref of a branch. `a` cannot become `a/b` in one step, because one name is a file where the other needs a
 * folder.
 */
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
  if (!isDone) throw new ForgeProblem(422, 'the branch was moved by another request in the meantime');
}

/** Handlers that move branches to another commit or name. */
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
      // Gitea responds with 500 for a commit that does not exist.
      const { commit } = found(await resolveRef(git, body.new_commit_id), 'the new commit does not exist');
      if (commit.id === before) return { result: undefined, changes: [] };
      if (!body.force && !(await isAncestor(git, before, commit.id))) {
        throw new ForgeProblem(422, `Force push ${params.branch} need a confirm force parameter`);
      }
      const ref = `refs/heads/${params.branch}`;
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardMove(mover, { ref, before, after: commit.id });
      if (!(await moveRefs(git, [{ name: ref, before, after: commit.id }]))) {
        throw new ForgeProblem(422, 'the branch was moved by another request in the meantime');
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

/** Handlers for comparisons of two refs or commits. As in Gitea, files are listed per commit only. */
export const compareHandlers = defineHandlers({
  compare: async ({ context, params, caller, ...target }) => {
    const range = await openComparison(context, target, params.basehead, caller);
    const { id } = target.repository;
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    const answer = async (git: GitRepository) => {
      const { base, head, isDirect } = range;
      const from = isDirect ? base : await findMergeBase(git, base, head);
      const stretch = { from: from ?? base, to: head };
      const commits = await listCommits(git, stretch, { limit: maxCommits });
      return {
        total_commits: commits.length < maxCommits ? commits.length : await countCommits(git, stretch),
        commits: await toEntries(git, commits, (commit) => toEntry(context, address, commit)),
      };
    };
    if (range.headId === id) return await answer(context.git.open(id));
    // Everyone who can read a repository can fetch the objects that are copied into it, even briefly.
    const permit = requireCopy(context, caller, range.headId);
    return await context.git.withObjectsOf(id, { id: range.headId, permit }, answer);
  },
});

const maxCommits = 10_000;

type CompareRange = {
  readonly base: string;
  readonly head: string;
  /** The repository that contains the head. */
  readonly headId: number;
  readonly isDirect: boolean;
};

/** Parses `base...head` (from the merge base) or `base..head`; compares a single name with the default branch. */
async function openComparison(
  context: ForgeContext,
  target: RepositoryTarget,
  words: string,
  caller: UserRow | undefined,
): Promise<CompareRange> {
  const git = context.git.open(target.repository.id);
  const separator = words.includes('...') ? '...' : words.includes('..') ? '..' : undefined;
  const [left = '', right = ''] =
    separator === undefined ? [target.repository.default_branch, words] : splitOnce(words, separator);
  const base = await resolveRef(git, left || target.repository.default_branch);
  const { repository, name } = findHead(context, target, right || target.repository.default_branch, caller);
  const head = await resolveRef(context.git.open(repository.id), name);
  const isSameFormat = repository.object_format === target.repository.object_format;
  if (!base || !head || !isSameFormat) throw new ForgeProblem(404, 'The target could not be found.');
  const isDirect = separator === '..';
  return { base: base.commit.id, head: head.commit.id, headId: repository.id, isDirect };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
