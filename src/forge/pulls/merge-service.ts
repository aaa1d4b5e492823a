import { signatureOf } from '../code/commits-rows.ts';
import { withPush } from '../code/pushes.ts';
import { refuseBlocked } from '../issues/dependencies-service.ts';
import { isDraftTitle } from '../issues/issues-rows.ts';
import { closeByMerge } from '../issues/reference-closing.ts';
import { recordEvent } from '../issues/timeline-rows.ts';
import { mayWriteCode } from '../platform/access/code.ts';
import { permissionOf } from '../platform/access/permissions.ts';
import { type FoundPull, findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { findMergeBase, isAncestor } from '../platform/git/history.ts';
import { moveRefs, readBranch, readCommit } from '../platform/git/refs.ts';
import { type RepositorySettings, settingsOf } from '../platform/repository-settings.ts';
import type { PullRow, RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { checkPull } from './checks.ts';
import { type MergeStyle, makeMerge, mergeStyles } from './merge-commits.ts';
import { guardConditions, guardMerger } from './merge-enforcement.ts';
import { findBranchRule } from './protections-service.ts';
import { emitClosed, markMerged } from './refresh.ts';

export type MergeOptions = {
  /** The whole message, used instead of title and text. */
  readonly message?: string;
  readonly merge_title_field?: string | undefined;
  readonly merge_message_field?: string | undefined;
  readonly merge_commit_id?: string | undefined;
  readonly head_commit_id?: string | undefined;
  readonly delete_branch_after_merge?: boolean | undefined;
  readonly force_merge?: boolean | undefined;
  /** Called before the branch is moved. Throws if the merge must not be made any more. */
  readonly guard?: () => void;
};
export type MergeTarget = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/** The repository setting that permits each merge style. */
const permits: Readonly<Record<MergeStyle | 'manually-merged', keyof RepositorySettings>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
};

/** Returns the merge style and the options of a request body, in either spelling of its fields. */
export function readMerge(body: MergeBody) {
  return { style: readStyle(body.do || body.Do || ''), wish: readSpellings(body) };
}

/**
 * Merges a pull request, or records a merge made elsewhere, with all its effects: events, closed issues, the deleted
 * branch.
 */
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

/** Returns the options of a body. The older spelling of a field is used if the newer one is absent or empty. */
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

/** Ends the request if the pull request must not be merged now. Call it with the repository locked. */
export function guardMerge(place: MergeTarget, number: number, style: keyof typeof permits): FoundPull {
  const both = findPull(place.context, place, number);
  const { pull, issue } = both;
  if (place.repository.is_mirror === 1) throw new ForgeProblem(405, 'mirror repository is read-only');
  if (pull.is_merged === 1) throw new ForgeProblem(405, 'The PR is already merged');
  if (issue.is_closed === 1) throw new ForgeProblem(404, 'The PR is closed');
  guardMerger({ ...place, db: place.context.db }, place.caller, pull.base_branch);
  // A merge that was made elsewhere is recorded even for a draft.
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
    // Gitea detects the conflict before merging, and gives no further details.
    if (after === undefined) throw new ForgeProblem(405, 'Please try again later');
    const ref = `refs/heads/${pull.base_branch}`;
    wish.guard?.();
    if (!(await moveRefs(git, [{ name: ref, before: base.id, after }]))) {
      throw new ForgeProblem(409, 'the base branch was moved meanwhile');
    }
    // Mark it before the refs are released: no reader may see the pull request open on a base that already contains it.
    markMerged(context, pull, { commit: after, base: after, merger: caller });
    return { result: undefined, changes: [{ ref, before: base.id, after }] };
  });
}

/** Records a merge that was made outside the forge. */
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

/**
 * Returns the message of a merge commit: the requested message, or else the title of the pull request with its
 * branches.
 */
export function mergeMessage({ issue, pull }: FoundPull, style: MergeStyle, wish: MergeOptions): string {
  const from = pull.head_branch;
  const title =
    style === 'squash'
      ? `${issue.title} (#${issue.number})`
      : `Merge pull request '${issue.title}' (#${issue.number}) from ${from} into ${pull.base_branch}`;
  // The API appends nothing to the message, unlike Gitea's web page.
  const body = wish.merge_message_field?.trim() ? `\n\n${wish.merge_message_field.trim()}` : '';
  return `${wish.merge_title_field?.trim() || title}${body}\n`;
}

/** Deletes the head branch if it is unused: never the default branch, nor the head of another open pull request. */
async function removeHead(place: MergeTarget, { pull }: FoundPull): Promise<void> {
  const { context, repository, owner, caller } = place;
  const isOwn = pull.head_repo_id === repository.id && pull.flow === 0;
  if (!isOwn || pull.head_branch === repository.default_branch) return;
  // The merge allowlist may contain accounts without write access.
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

/** A scheduled merge, which waits for the conditions of its pull request to be met. */
export type ScheduledMergeRow = {
  readonly pull_id: number;
  readonly doer_id: number;
  readonly style: MergeStyle;
  readonly message: string;
  readonly deletes_branch: number;
  readonly created_at: Seconds;
};

export const scheduledOf = (context: ForgeContext, pullId: number) =>
  context.db.get<ScheduledMergeRow>('SELECT * FROM scheduled_merges WHERE pull_id = ?', pullId);

/**
 * Returns the pull request of a scheduled merge, with the current permission of the account that scheduled it;
 * undefined if any part of it was deleted, the repository is archived, or the account may not sign in.
 */
function findWaiting(context: ForgeContext, pullId: number) {
  const { db } = context;
  const row = scheduledOf(context, pullId);
  const pull = row && db.get<PullRow>('SELECT * FROM pulls WHERE id = ?', pullId);
  const repository = pull && db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', pull.repo_id);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  const caller = row && db.get<UserRow>('SELECT * FROM users WHERE id = ?', row.doer_id);
  if (!owner || !caller || repository.archived_at > 0) return undefined;
  if (caller.is_active === 0 || caller.prohibit_login === 1) return undefined;
  const permission = permissionOf(db, caller, repository, owner, 'pulls');
  return { row, pull, place: { context, repository, owner, caller, permission } };
}

/** Merges a pull request if its conditions are met; otherwise the merge stays scheduled. */
async function tryMerge(context: ForgeContext, pullId: number): Promise<void> {
  const before = findWaiting(context, pullId);
  if (before?.pull.status === 'checking') await checkPull(context, pullId);
  const waiting = findWaiting(context, pullId);
  if (!waiting) return;
  const { row, pull, place } = waiting;
  // The merge waits for other work on the repository, and may be cancelled or scheduled anew meanwhile.
  const guard = (): void => {
    if (scheduledOf(context, pullId)?.created_at !== row.created_at)
      throw new ForgeProblem(404, 'the scheduled merge was cancelled');
  };
  const wish = { message: row.message, delete_branch_after_merge: row.deletes_branch === 1, guard };
  try {
    await performMerge(place, pull.number, row.style, wish);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    context.log.debug({ pull: pullId, reason: error.message }, 'a scheduled merge is waiting');
  }
}

/** Tries the scheduled merges of a repository, in the background. */
export function tryScheduledMerges(context: ForgeContext, repositoryId: number): void {
  const sql = `SELECT s.pull_id FROM pulls p JOIN scheduled_merges s ON s.pull_id = p.id WHERE p.repo_id = ? ORDER BY p.id`;
  for (const { pull_id } of context.db.all<{ pull_id: number }>(sql, repositoryId))
    context.background.add(() => tryMerge(context, pull_id));
}

/** Tries the scheduled merges of all repositories: their conditions may have been met while the forge was stopped. */
export function resumeScheduledMerges(context: ForgeContext): void {
  const sql = 'SELECT DISTINCT p.repo_id FROM scheduled_merges s JOIN pulls p ON p.id = s.pull_id';
  for (const { repo_id } of context.db.all<{ repo_id: number }>(sql)) tryScheduledMerges(context, repo_id);
}
