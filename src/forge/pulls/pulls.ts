import { findHead, toChangedFile, toEntries, toEntry } from '../code/branches-service.ts';
import { repositoryAddress } from '../code/commits-rows.ts';
import { emitPull, type IssueScene } from '../hooks/events.ts';
import {
  changeAssignees,
  changeBody,
  changeDueDate,
  changeMilestone,
  changeState,
  changeTitle,
  findAssignees,
} from '../issues/changes.ts';
import { refuseBlocked } from '../issues/dependencies-service.ts';
import { isDraftTitle } from '../issues/issues-rows.ts';
import { requireAuthorOrWriter } from '../issues/issues-service.ts';
import { findLabels, replaceLabels } from '../issues/labels-service.ts';
import { recordEvent } from '../issues/timeline-rows.ts';
import { markIssueRead } from '../notifications/notifications-service.ts';
import { mayWriteCode } from '../platform/access/code.ts';
import { reaches } from '../platform/access/permissions.ts';
import { type FoundPull, findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { listChanges } from '../platform/git/changes.ts';
import { countCommits, listCommits } from '../platform/git/history.ts';
import { readBranch } from '../platform/git/refs.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { UserRow } from '../platform/rows.ts';
import { parseTimestamp, secondsOf } from '../platform/time.ts';
import { checkPull, inspectPull } from './checks.ts';
import { findCodeOwners, requestCodeOwners } from './code-owners.ts';
import { openPull } from './create.ts';
import { findByBranches, listPullRows } from './list.ts';
import type { MergeStyle } from './merge-commits.ts';
import { guardMerger } from './merge-enforcement.ts';
import {
  guardMerge,
  type MergeOptions,
  type MergeTarget,
  mergeMessage,
  performMerge,
  readMerge,
  type ScheduledMergeRow,
  scheduledOf,
} from './merge-service.ts';
import { toPull, toPulls } from './pulls-rows.ts';
import { readHeadPush, recordHeadPush } from './refresh.ts';
import type { Reviewers } from './review-requests.ts';
import { recountOfficial } from './reviews-service.ts';

/** Handlers for pull requests. Their labels, comments and state are handled like those of issues. */
export const pullHandlers = defineHandlers({
  listPulls(call) {
    const { context, query, page, caller, reply } = call;
    // A repository without a commit has no pull requests, not even an empty list.
    if (call.repository.is_empty === 1) throw new ForgeProblem(404, 'not found');
    const { pulls, total } = listPullRows(context, call, query, page);
    reply.total(total);
    return toPulls(context, pulls, { ...call, viewer: caller });
  },

  getPull: async (call) => {
    const { issue } = await findChecked(call.context, call, call.params.index);
    return toPull(call.context, issue, { ...call, viewer: call.caller });
  },

  async getPullByBranches(call) {
    const { context, params, caller } = call;
    const head = findHead(context, call, params.head, caller);
    const branches = {
      baseId: call.repository.id,
      base: params.base,
      headId: head.repository.id,
      head: head.name,
    };
    const number = found(findByBranches(context, branches, { openOnly: false }));
    const { issue } = await findChecked(context, call, number);
    return toPull(context, issue, { ...call, viewer: caller });
  },

  async createPull(call) {
    const issue = await openPull(call, call.body);
    const { issue: row } = findPull(call.context, call, issue.number);
    return toPull(call.context, row, { ...call, viewer: call.caller });
  },

  async editPull(call) {
    const { context, params, caller } = call;
    requireAuthorOrWriter(call, caller, findPull(context, call, params.index).issue.poster_id);
    await changePull(call, params.index, call.body);
    return toPull(context, findPull(context, call, params.index).issue, { ...call, viewer: caller });
  },

  async listPullFiles({ context, params, page, reply, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const changes = await listChanges(git, pull.merge_base, pull.head_sha);
    addPagingHeaders(reply, page, changes.length);
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    return changes
      .slice(page.offset, page.offset + page.limit)
      .map((change) => toChangedFile(address, change, pull.head_sha));
  },

  async listPullCommits({ context, params, page, reply, caller, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const stretch = { from: pull.merge_base, to: pull.head_sha };
    addPagingHeaders(reply, page, await countCommits(git, stretch));
    const commits = await listCommits(git, stretch, { skip: page.offset, limit: page.limit });
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    return toEntries(git, commits, (commit) => toEntry(context, address, commit));
  },
});

/** Returns both sides of a pull request, after a pending check. */
async function findChecked(
  context: ForgeContext,
  target: RepositoryTarget,
  number: number,
): Promise<FoundPull> {
  const { pull } = findPull(context, target, number);
  if (pull.status === 'checking') await checkPull(context, pull.id);
  return findPull(context, target, number);
}

/** Adds headers with the position in a list; only two lists have these headers. */
function addPagingHeaders(reply: Reply, page: PageRange, total: number): void {
  reply.total(total);
  const last = Math.ceil(total / page.limit);
  reply.header('X-Page', String(page.page));
  reply.header('X-PerPage', String(page.limit));
  reply.header('X-PageCount', String(last));
  reply.header('X-HasMore', String(page.page < last));
}

/** Requested changes; the contract's body of `pull.edit`. Absent fields are unchanged. */
type PullEdit = {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly base?: string | undefined;
  readonly assignee?: string | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly milestone?: number | undefined;
  readonly labels?: readonly number[] | undefined;
  readonly state?: string | undefined;
  readonly due_date?: string | undefined;
  readonly unset_due_date?: boolean | undefined;
  readonly allow_maintainer_edit?: boolean | undefined;
  readonly content_version?: number | undefined;
};

type PullEditTarget = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/** Changes a pull request. Every change sends its own event, except changes of labels. */
async function changePull(place: PullEditTarget, number: number, edit: PullEdit): Promise<void> {
  const { context, repository } = place;
  await context.git.exclusively(repository.id, 'pulls', async () => {
    const pull = findPull(context, place, number);
    const retarget = await planRetarget(place, pull, edit.base);
    const owners = await findOwnersOfReady(place, pull, edit.title);
    context.db.transaction(() => {
      applyTexts(place, pull, edit);
      if (owners) requestCodeOwners(context, { ...place, actor: place.caller }, pull, owners);
      if (reaches(place.permission, 'write')) applyAsWriter(place, pull, edit);
      if (edit.state !== undefined) applyState(place, pull, edit.state);
      retarget?.();
      if (edit.allow_maintainer_edit !== undefined) allowHelp(place, pull, edit.allow_maintainer_edit);
    });
  });
}

/** Sets whether others may write to the head. Only the author may set it, and only with write access to the head. */
function allowHelp(
  { context, caller }: PullEditTarget,
  { issue, pull }: FoundPull,
  isAllowed: boolean,
): void {
  if (caller.id !== issue.poster_id || !mayWriteCode(context.db, caller, pull.head_repo_id)) {
    throw new ForgeProblem(403, 'SetAllowEdits: user not allowed to do this action');
  }
  context.db.run('UPDATE pulls SET allow_maintainer_edit = ? WHERE id = ?', isAllowed, pull.id);
}

/**
 * Returns the code owners to request reviews from if an edit of the title may mark a draft as ready; undefined
 * otherwise. No reviews of code owners are requested for a draft.
 */
async function findOwnersOfReady(
  { context, repository, owner }: PullEditTarget,
  { issue, pull }: FoundPull,
  title: string | undefined,
): Promise<Reviewers | undefined> {
  if (!title || !isDraftTitle(issue.title)) return undefined;
  const change = { title, from: pull.merge_base, to: pull.head_sha };
  return await findCodeOwners(context, { repository, owner }, change);
}

function sceneOf(place: PullEditTarget, { issue }: FoundPull): IssueScene {
  return { ...place, actor: place.caller, issueId: issue.id };
}

function applyTexts(place: PullEditTarget, pull: FoundPull, edit: PullEdit): void {
  const { context } = place;
  if (edit.title) changeTitle(context, sceneOf(place, pull), edit.title);
  if (edit.body !== undefined) changeBody(context, sceneOf(place, pull), edit.body, edit.content_version);
}

function applyAsWriter(place: PullEditTarget, pull: FoundPull, edit: PullEdit): void {
  const { context } = place;
  const scene = sceneOf(place, pull);
  if (edit.unset_due_date) changeDueDate(context, scene, 0);
  else if (edit.due_date !== undefined) changeDueDate(context, scene, parseTimestamp(edit.due_date) ?? 0);
  if (edit.assignees !== undefined || edit.assignee) {
    const names = [...(edit.assignees ?? []), ...(edit.assignee ? [edit.assignee] : [])];
    changeAssignees(context, scene, findAssignees(context, place, names));
  }
  if (edit.milestone) changeMilestone(context, scene, edit.milestone);
  if (edit.labels !== undefined) {
    replaceLabels(context, scene, findLabels(context, place, edit.labels));
  }
}

function applyState(place: PullEditTarget, { issue, pull }: FoundPull, state: string): void {
  if (pull.is_merged === 1) throw new ForgeProblem(412, 'cannot change state of a merged pull request');
  changeState(place.context, sceneOf(place, { issue, pull }), state);
}

function refuseDouble({ context, repository }: PullEditTarget, { pull }: FoundPull, base: string): void {
  const branches = {
    baseId: repository.id,
    base,
    headId: pull.head_repo_id ?? 0,
    head: pull.head_branch,
  };
  const number = findByBranches(context, branches, { openOnly: true });
  if (number === undefined || number === pull.number) return;
  throw new ForgeProblem(409, `pull request already exists for these targets [index: ${number}]`);
}

/** Returns the function that changes the base branch; undefined if no change is requested. */
async function planRetarget(
  place: PullEditTarget,
  { issue, pull }: FoundPull,
  base: string | undefined,
): Promise<(() => void) | undefined> {
  const { context, repository } = place;
  if (!base || base === pull.base_branch) return undefined;
  if (pull.is_merged === 1) throw new ForgeProblem(409, 'a merged pull request keeps its base');
  if (issue.is_closed === 1) throw new ForgeProblem(422, 'cannot change the base of a closed pull request');
  const git = context.git.open(repository.id);
  const tip = found(await readBranch(git, base), `new base '${base}' not exist`);
  refuseDouble(place, { issue, pull }, base);
  const isItsOwn = pull.head_repo_id === repository.id && pull.head_branch === base;
  if (isItsOwn) throw new ForgeProblem(422, 'the base must not be the head');
  const seen = await inspectPull(git, tip.id, pull.head_sha);
  const push = await readHeadPush(git, { before: tip.id, after: pull.head_sha, base: tip.id });
  return () => {
    context.db.run(
      `UPDATE pulls SET base_branch = ?, base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?,
         status = ? WHERE id = ?`,
      base,
      tip.id,
      seen.merge_base,
      seen.additions,
      seen.deletions,
      seen.changed_files,
      seen.status,
      pull.id,
    );
    recountOfficial(context, place, issue.id);
    recordEvent(context, sceneOf(place, { issue, pull }), {
      type: 'change_target_branch',
      refers: { oldRef: pull.base_branch, newRef: base },
    });
    // As in Gitea, previous push entries are dropped: one entry of the caller lists all commits.
    context.db.run("DELETE FROM timeline WHERE issue_id = ? AND type = 'pull_push'", issue.id);
    recordHeadPush(context, { issueId: issue.id, actor: place.caller }, push);
    // `ref` is the new base, although the old one is intended: a defect of Gitea and Forgejo.
    const event = { type: 'pull_request', action: 'edited', changes: { ref: base } };
    emitPull(context, { ...place, actor: place.caller }, issue.id, event);
  };
}

/** Handlers for the check whether a pull request is merged. */
export const pullMergeHandlers = defineHandlers({
  isPullMerged({ context, params, ...target }) {
    const { pull } = findPull(context, target, params.index);
    if (pull.is_merged === 0) throw new ForgeProblem(404, 'not found');
    return undefined;
  },
});

/**
 * Schedules a merge for when its conditions are met, which may be immediately. Obstacles that no status check can
 * remove end the request as for an immediate merge: missing permission, a draft, conflicts, open dependencies.
 */
async function scheduleMerge(
  place: MergeTarget,
  number: number,
  style: MergeStyle,
  wish: MergeOptions,
): Promise<void> {
  const { context, repository, caller } = place;
  const { pull: before } = findPull(context, place, number);
  if (before.status === 'checking') await checkPull(context, before.id);
  context.db.transaction(() => {
    const both = guardMerge(place, number, style);
    const { pull, issue } = both;
    if (pull.status === 'conflict') throw new ForgeProblem(405, 'Please try again later');
    refuseBlocked(context, repository, issue.id);
    if (scheduledOf(context, pull.id)) {
      const text = `pull request is already scheduled to auto merge when checks succeed [pull_id: ${pull.id}]`;
      throw new ForgeProblem(409, text);
    }
    const deletesBranch =
      wish.delete_branch_after_merge ?? settingsOf(repository).default_delete_branch_after_merge === true;
    context.db.run(
      `INSERT INTO scheduled_merges (pull_id, doer_id, style, message, deletes_branch, created_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      pull.id,
      caller.id,
      style,
      mergeMessage(both, style, wish),
      deletesBranch,
      secondsOf(context.clock()),
    );
    recordEvent(context, { issueId: issue.id, actor: caller }, { type: 'pull_scheduled_merge' });
  });
  context.wakeMerges(repository.id);
}

/** Ends the request with 403 unless the account scheduled the merge or may merge itself. */
function guardCancel(place: MergeTarget, { pull }: FoundPull, row: ScheduledMergeRow): void {
  if (place.caller.id === row.doer_id) return;
  try {
    guardMerger({ ...place, db: place.context.db }, place.caller, pull.base_branch);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    throw new ForgeProblem(403, 'user has no permission to cancel the scheduled auto merge');
  }
}

/** Handlers for scheduled merges; `mergePull` schedules them. */
export const scheduledMergeHandlers = defineHandlers({
  cancelScheduledMerge(call) {
    const { context, caller, params } = call;
    context.db.transaction(() => {
      const both = findPull(context, call, params.index);
      const row = scheduledOf(context, both.pull.id);
      if (!row) throw new ForgeProblem(404, 'not found');
      guardCancel(call, both, row);
      context.db.run('DELETE FROM scheduled_merges WHERE pull_id = ?', both.pull.id);
      const event = { type: 'pull_cancel_scheduled_merge' };
      recordEvent(context, { issueId: both.issue.id, actor: caller }, event);
    });
    return undefined;
  },

  async mergePull({ params, body, reply, ...place }) {
    const { style, wish } = readMerge(body);
    const { issue } = findPull(place.context, place, params.index);
    markIssueRead(place.context, place.caller.id, issue.id);
    if (!body.merge_when_checks_succeed || style === 'manually-merged')
      return await performMerge(place, params.index, style, wish);
    await scheduleMerge(place, params.index, style, wish);
    reply.status(201);
    return undefined;
  },
});
