import { mayWriteCode } from '../access/code.ts';
import { type FoundPull, findPull } from '../access/find-issue.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { type RepositorySettings, settingsOf } from '../core/repository-settings.ts';
import type { UserRow } from '../core/rows.ts';
import { recordEvent } from '../events/timeline.ts';
import type { CommitData } from '../git/commit.ts';
import { findMergeBase, isAncestor } from '../git/history.ts';
import { moveRefs, readBranch, readCommit } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { closeByMerge } from '../issues/reference-closing.ts';
import { refuseBlocked } from '../protections/blockers.ts';
import { findBranchRule } from '../protections/branch-rules.ts';
import { guardConditions, guardMerger } from '../protections/merge-enforcement.ts';
import { emitClosed, markMerged } from '../pull-sync/closing.ts';
import { isDraftTitle } from '../views/issue.ts';
import { signatureOf } from '../views/signature.ts';
import { type MergeStyle, makeMerge, mergeStyles } from './merge-commits.ts';

export type MergeOptions = {
  /** The whole message, in place of title and text. */
  readonly message?: string;
  readonly merge_title_field?: string | undefined;
  readonly merge_message_field?: string | undefined;
  readonly merge_commit_id?: string | undefined;
  readonly head_commit_id?: string | undefined;
  readonly delete_branch_after_merge?: boolean | undefined;
  readonly force_merge?: boolean | undefined;
};
export type MergeTarget = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/** Which setting of the repository allows a way to merge. */
const permits: Readonly<Record<MergeStyle | 'manually-merged', keyof RepositorySettings>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
};

/** Asking whether a pull request is merged. */
export const pullMergeHandlers = defineHandlers({
  isPullMerged({ context, params, ...target }) {
    const { pull } = findPull(context, target, params.index);
    if (pull.is_merged === 0) throw new ForgeProblem(404, 'not found');
    return undefined;
  },
});

/** Returns the way to merge and the wishes of a body, in either spelling of its members. */
export function readMerge(body: MergeBody) {
  return { style: readStyle(body.do || body.Do || ''), wish: readSpellings(body) };
}

/** Merges a pull request, or records a merge made elsewhere, with all that follows: events, closed issues, the removed branch. */
export async function performMerge(
  place: MergeTarget,
  number: number,
  style: MergeStyle | 'manually-merged',
  wish: MergeOptions,
): Promise<undefined> {
  const { context } = place;
  const { pull } = findPull(context, place, number);
  await (style === 'manually-merged'
    ? recordMerge(place, number, wish.merge_commit_id ?? '')
    : mergeBranch(place, number, style, wish));
  const actor = place.caller;
  emitClosed(context, { ...place, actor }, pull);
  const merged = findPull(context, place, number).pull;
  context.db.transaction(() => closeByMerge(context, { ...place, actor }, merged));
  const isRemoved =
    wish.delete_branch_after_merge ?? settingsOf(place.repository).default_delete_branch_after_merge;
  if (isRemoved) await removeHead(place, findPull(context, place, number));
  return undefined;
}

type MergeBody = MergeOptions & {
  readonly do?: string | undefined;
  readonly Do?: string | undefined;
  readonly MergeTitleField?: string | undefined;
  readonly MergeMessageField?: string | undefined;
  readonly MergeCommitID?: string | undefined;
};

/** Takes the older spelling of a member where the newer one is absent or empty. */
function readSpellings(body: MergeBody): MergeOptions {
  return {
    ...body,
    merge_title_field: body.merge_title_field || body.MergeTitleField,
    merge_message_field: body.merge_message_field || body.MergeMessageField,
    merge_commit_id: body.merge_commit_id || body.MergeCommitID,
  };
}

function readStyle(text: string): MergeStyle | 'manually-merged' {
  const style = [...mergeStyles, 'manually-merged' as const].find((known) => known === text);
  if (style === undefined) throw new ForgeProblem(422, '[Do]: In(merge,rebase,rebase-merge,squash,…)');
  return style;
}

/** Ends the request where the pull request must not be merged now; called while the repository is held. */
export function guardMerge(place: MergeTarget, number: number, style: keyof typeof permits): FoundPull {
  const both = findPull(place.context, place, number);
  const { pull, issue } = both;
  if (place.repository.is_mirror === 1) throw new ForgeProblem(405, 'mirror repository is read-only');
  if (pull.is_merged === 1) throw new ForgeProblem(405, 'The PR is already merged');
  if (issue.is_closed === 1) throw new ForgeProblem(404, 'The PR is closed');
  guardMerger({ ...place, db: place.context.db }, place.caller, pull.base_branch);
  // Recording a merge that was made elsewhere needs no further check.
  const isRecord = style === 'manually-merged';
  if (!isRecord && isDraftTitle(issue.title)) {
    throw new ForgeProblem(405, 'Work in progress PRs cannot be merged');
  }
  if (settingsOf(place.repository)[permits[style]] !== true) {
    throw new ForgeProblem(405, `Invalid merge style: ${style}`);
  }
  return both;
}

async function mergeBranch(
  place: MergeTarget,
  number: number,
  style: MergeStyle,
  wish: MergeOptions,
): Promise<void> {
  const { context, repository, owner, caller } = place;
  const git = context.git.open(repository.id);
  await withPush(context, { repository, owner, pusher: caller }, async () => {
    const both = guardMerge(place, number, style);
    const { pull } = both;
    if (wish.head_commit_id && wish.head_commit_id !== pull.head_sha) {
      throw new ForgeProblem(409, 'head out of date');
    }
    const base = found(await readBranch(git, pull.base_branch));
    const head = found(await readCommit(git, pull.head_sha));
    const mergeBase = (await findMergeBase(git, base.id, head.id)) ?? base.id;
    const isForced = wish.force_merge === true;
    const now = { ...pull, base_sha: base.id, merge_base: mergeBase };
    await guardConditions({ ...place, db: context.db, git, pull: now, user: caller, isForced, style });
    refuseBlocked(context, repository, both.issue.id);
    const message = wish.message ?? mergeMessage(both, style, wish);
    const committer = signatureOf(context, caller);
    const after = await makeMerge(git, style, { base, head, mergeBase, message, committer });
    // Gitea knows of the conflict before it tries, and says no more than this.
    if (after === undefined) throw new ForgeProblem(405, 'Please try again later');
    const ref = `refs/heads/${pull.base_branch}`;
    if (!(await moveRefs(git, [{ name: ref, before: base.id, after }]))) {
      throw new ForgeProblem(409, 'the base branch was moved meanwhile');
    }
    // Before the refs are released: no reader may see the pull request open on a base that already contains it.
    markMerged(context, pull, { commit: after, base: after, merger: caller });
    return { result: undefined, changes: [{ ref, before: base.id, after }] };
  });
}

/** Records a merge that was made outside of the forge. */
async function recordMerge(place: MergeTarget, number: number, commitId: string): Promise<void> {
  const { context, repository, caller } = place;
  const git = context.git.open(repository.id);
  await context.git.exclusively(repository.id, 'refs', async () => {
    const { pull } = guardMerge(place, number, 'manually-merged');
    const base = found(await readBranch(git, pull.base_branch));
    const commit = await findOnBase(place, commitId, base);
    markMerged(context, pull, { commit: commit.id, base: base.id, merger: caller });
  });
}

async function findOnBase(
  { context, repository }: MergeTarget,
  id: string,
  base: CommitData,
): Promise<CommitData> {
  const git = context.git.open(repository.id);
  const isId = /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(id);
  const commit = isId ? await readCommit(git, id) : undefined;
  if (commit === undefined || !(await isAncestor(git, commit.id, base.id))) {
    throw new ForgeProblem(409, 'Wrong commit ID');
  }
  return commit;
}

/** Returns the message of a merge commit: what was wished for, else the title of the pull request with its branches. */
export function mergeMessage({ issue, pull }: FoundPull, style: MergeStyle, wish: MergeOptions): string {
  const from = pull.head_branch;
  const title =
    style === 'squash'
      ? `${issue.title} (#${issue.number})`
      : `Merge pull request '${issue.title}' (#${issue.number}) from ${from} into ${pull.base_branch}`;
  // The API adds nothing of its own below, unlike the page for people.
  const body = wish.merge_message_field?.trim() ? `\n\n${wish.merge_message_field.trim()}` : '';
  return `${wish.merge_title_field?.trim() || title}${body}\n`;
}

/** Only an unused branch is deleted: never the default one, nor the head of another open pull request. */
async function removeHead(place: MergeTarget, { pull }: FoundPull): Promise<void> {
  const { context, repository, owner, caller } = place;
  const isOwn = pull.head_repo_id === repository.id && pull.flow === 0;
  if (!isOwn || pull.head_branch === repository.default_branch) return;
  // A list of those who may merge may name accounts that may not write.
  if (!mayWriteCode(context.db, caller, repository.id)) return;
  const others = context.db.get(
    `SELECT 1 AS one FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE i.is_closed = 0 AND p.head_repo_id = ? AND p.head_branch = ? AND p.flow = 0`,
    repository.id,
    pull.head_branch,
  );
  if (others !== undefined || findBranchRule(context.db, repository.id, pull.head_branch)) return;
  const git = context.git.open(repository.id);
  await withPush(context, { repository, owner, pusher: caller }, async () => {
    const ref = `refs/heads/${pull.head_branch}`;
    const before = (await readBranch(git, pull.head_branch))?.id;
    const isGone = before !== undefined && (await moveRefs(git, [{ name: ref, before, after: undefined }]));
    if (isGone) {
      context.db.run('UPDATE pulls SET is_head_gone = 1 WHERE id = ?', pull.id);
      const event = { type: 'delete_branch', refers: { oldRef: pull.head_branch } };
      recordEvent(context, { issueId: pull.issue_id, actor: caller }, event);
    }
    return { result: undefined, changes: isGone ? [{ ref, before, after: undefined }] : [] };
  });
}
