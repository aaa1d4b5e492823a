import { mayWriteCode } from '../access/code.ts';
import { type FoundPull, findPull } from '../access/find-issue.ts';
import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { toChangedFile, toEntries, toEntry } from '../code/compare.ts';
import { findHead } from '../code/head-repository.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { PageRange } from '../core/paging.ts';
import type { UserRow } from '../core/rows.ts';
import { parseTimestamp } from '../core/time.ts';
import type { IssueScene } from '../events/issue-events.ts';
import { emitPull } from '../events/pull-events.ts';
import { recordEvent } from '../events/timeline.ts';
import { listChanges } from '../git/changes.ts';
import { countCommits, listCommits } from '../git/history.ts';
import { readBranch } from '../git/refs.ts';
import { defineHandlers, type Reply } from '../http/handler.ts';
import { findLabels, replaceLabels } from '../issues/attached-labels.ts';
import {
  changeAssignees,
  changeBody,
  changeDueDate,
  changeMilestone,
  changeState,
  changeTitle,
  findAssignees,
} from '../issues/changes.ts';
import { requireAuthorOrWriter } from '../issues/issues.ts';
import { checkPull } from '../pull-sync/checks.ts';
import { inspectPull } from '../pull-sync/inspection.ts';
import { readHeadPush, recordHeadPush } from '../pull-sync/push-entries.ts';
import { findCodeOwners, requestCodeOwners } from '../reviews/code-owners.ts';
import type { Reviewers } from '../reviews/requests.ts';
import { recountOfficial } from '../reviews/state.ts';
import { repositoryAddress } from '../views/commit.ts';
import { isDraftTitle } from '../views/issue.ts';
import { toPull, toPulls } from '../views/pull.ts';
import { openPull } from './create.ts';
import { findByBranches, listPullRows } from './list.ts';

/** Handlers for pull requests; their labels, comments and state of discussion are those of issues. */
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

/** Returns both sides of a pull request that is not being checked any more. */
async function findChecked(
  context: ForgeContext,
  target: RepositoryTarget,
  number: number,
): Promise<FoundPull> {
  const { pull } = findPull(context, target, number);
  if (pull.status === 'checking') await checkPull(context, pull.id);
  return findPull(context, target, number);
}

/** Two lists tell their place in headers of their own beside the usual ones. */
function addPagingHeaders(reply: Reply, page: PageRange, total: number): void {
  reply.total(total);
  const last = Math.ceil(total / page.limit);
  reply.header('X-Page', String(page.page));
  reply.header('X-PerPage', String(page.limit));
  reply.header('X-PageCount', String(last));
  reply.header('X-HasMore', String(page.page < last));
}

/** What a caller wants changed; the contract's body of `pull.edit`. Absent means unchanged. */
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

/** Changes a pull request; every change sends its own event; labels set here send none. */
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

/** The author lets others write to the head, and only as long as the author may write to it. */
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

/** What was a draft has no owners that were asked. */
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

/** Returns what moves the pull request onto another base branch; undefined where that is not asked for. */
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
    // As on Gitea, who pushed what is forgotten: one entry of the caller names all commits.
    context.db.run("DELETE FROM timeline WHERE issue_id = ? AND type = 'pull_push'", issue.id);
    recordHeadPush(context, { issueId: issue.id, actor: place.caller }, push);
    // The new base where the old one is meant: Gitea's defect, and Forgejo's.
    const event = { type: 'pull_request', action: 'edited', changes: { ref: base } };
    emitPull(context, { ...place, actor: place.caller }, issue.id, event);
  };
}
