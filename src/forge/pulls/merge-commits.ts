import type { CommitData, Signature } from '../platform/git/commit.ts';
import { listCommits } from '../platform/git/history.ts';
import { commitTree, mergeTrees } from '../platform/git/merge.ts';
import { readCommit } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';

/** Merge styles. `rebase`, `squash` and `fast-forward-only` create no merge commit. */
export const mergeStyles = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
export type MergeStyle = (typeof mergeStyles)[number];

type Merge = {
  readonly base: CommitData;
  readonly head: CommitData;
  readonly mergeBase: string;
  readonly message: string;
  /** The merging account, with the current time. */
  readonly committer: Signature;
};

/** Creates the commits of a merge, without moving a ref. Returns the new commit of the base; undefined on conflict. */
export async function makeMerge(
  git: GitRepository,
  style: MergeStyle,
  merge: Merge,
): Promise<string | undefined> {
  const { base, head, mergeBase, message, committer } = merge;
  if (style === 'fast-forward-only') return mergeBase === base.id ? head.id : undefined;
  if (style === 'rebase') return await rebase(git, merge);
  const tip = style === 'rebase-merge' ? await rebase(git, merge) : head.id;
  const tree = tip === undefined ? undefined : await mergeTrees(git, base.id, tip);
  if (tip === undefined || tree === undefined) return undefined;
  const author = style === 'squash' ? head.author : committer;
  const parents = style === 'squash' ? [base.id] : [base.id, tip];
  return await commitTree(git, tree, {
    parents,
    message,
    author: { ...author, seconds: committer.seconds },
    committer,
  });
}

/** Rebases each commit of the head onto the base, without a work tree. Merge commits are skipped, as in git. */
async function rebase(
  git: GitRepository,
  { base, head, mergeBase, committer }: Merge,
): Promise<string | undefined> {
  const commits = await listCommits(git, { from: mergeBase, to: head.id }, { limit: 10_000 });
  // git treats the head as up to date, unless there is a merge commit to skip.
  if (mergeBase === base.id && commits.every(({ parents }) => parents.length === 1)) return head.id;
  let tip: CommitData = base;
  for (const commit of commits.toReversed()) {
    if (commit.parents.length !== 1) continue;
    const tree = await pick(git, tip, commit, committer);
    if (tree === undefined) return undefined;
    const { author, message } = commit;
    const id = await commitTree(git, tree, { parents: [tip.id], message, author, committer });
    const next = await readCommit(git, id);
    if (next === undefined) return undefined;
    tip = next;
  }
  return tip.id;
}

/**
 * Returns the tree of `tip` with the changes of `commit` applied. git merges over the common ancestor, so the tip's
 * tree gets a stand-in commit with the parent of `commit`, which makes that parent the common ancestor.
 */
async function pick(
  git: GitRepository,
  tip: CommitData,
  commit: CommitData,
  committer: Signature,
): Promise<string | undefined> {
  const parents = commit.parents;
  const standIn = await commitTree(git, tip.tree, {
    parents,
    message: 'stand-in\n',
    author: committer,
    committer,
  });
  return await mergeTrees(git, standIn, commit.id);
}
