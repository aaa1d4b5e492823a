import { findHead, type HeadBranch } from '../code/branches-service.ts';
import { emitIssue, type IssueScene } from '../hooks/events.ts';
import {
  attachAssignees,
  emitAssignees,
  findAssignees,
  hasMilestone,
  insertIssue,
  noteReferences,
  recordMilestone,
} from '../issues/changes.ts';
import type { LabelRow } from '../issues/labels-rows.ts';
import { attachLabels, findLabels } from '../issues/labels-service.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import { notifyOpened } from '../notifications/notifications-service.ts';
import { mayReadCode, mayWriteCode } from '../platform/access/code.ts';
import { isOrganizationMember, reaches, requireUnblocked } from '../platform/access/permissions.ts';
import { findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { moveRefs, resolveRef } from '../platform/git/refs.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, PullRow, UserRow } from '../platform/rows.ts';
import { parseTimestamp } from '../platform/time.ts';
import { inspectPull } from './checks.ts';
import { findCodeOwners, requestCodeOwners } from './code-owners.ts';
import { findByBranches } from './list.ts';
import { keepHead, readHeadPush, recordHeadPush } from './refresh.ts';
import {
  findReviewers,
  guardRequest,
  type Reviewers,
  requestReview,
  requestTeamReview,
} from './review-requests.ts';

/** Input for a new pull request; the contract's `CreatePullRequestOption`. */
type PullText = {
  readonly title: string;
  readonly head: string;
  readonly base: string;
  readonly body?: string | undefined;
  readonly assignee?: string | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly milestone?: number | undefined;
  readonly labels?: readonly number[] | undefined;
  readonly due_date?: string | undefined;
  readonly reviewers?: readonly string[] | undefined;
  readonly team_reviewers?: readonly string[] | undefined;
  readonly allow_maintainer_edit?: boolean | undefined;
};

export type NewPullTarget = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/** The head of a new pull request: a branch, or a commit pushed for review under a name that is not a branch. */
type NewHead = HeadBranch & { readonly pushed?: string };

/** The resolved and authorized parts of a new pull request. */
type WantedPull = {
  readonly labels: readonly LabelRow[];
  readonly assignees: readonly UserRow[];
  readonly reviewers: Reviewers;
  readonly milestoneId: number | undefined;
  readonly dueAt: number | undefined;
};

/** Opens a pull request and sends the webhooks, in Gitea's order. Returns its issue side. */
export async function openPull(place: NewPullTarget, text: PullText): Promise<IssueRow> {
  const { context, repository } = place;
  if (text.head === text.base) {
    throw new ForgeProblem(422, 'Invalid PullRequest: There are no changes between the head and the base');
  }
  // A pull request shows the code of both repositories.
  if (!mayReadCode(context.db, place.caller, repository.id)) throw new ForgeProblem(404, 'not found');
  const head = findHead(context, place, text.head, place.caller);
  await requireBranch(context, repository.id, text.base);
  await requireBranch(context, head.repository.id, head.name);
  guardOpener(place, head);
  return await context.git.exclusively(repository.id, 'pulls', async () => {
    refuseDouble(place, head, text.base);
    const issue = await insertPull(place, head, text, findWanted(place, text));
    return issue;
  });
}

/**
 * Opens a pull request for a commit that was pushed for review. Call it inside the repository's exclusive `pulls` work.
 */
export function openPushed(
  place: NewPullTarget,
  pushed: { readonly name: string; readonly base: string; readonly commitId: string },
  text: { readonly title: string; readonly body: string },
): Promise<IssueRow> {
  const head = { ...place, name: pushed.name, pushed: pushed.commitId };
  const whole = { ...text, head: pushed.name, base: pushed.base, allow_maintainer_edit: false };
  return insertPull(place, head, whole, findWanted(place, whole));
}

async function requireBranch(context: ForgeContext, repositoryId: number, name: string): Promise<void> {
  const resolved = found(
    await resolveRef(context.git.open(repositoryId), name),
    `branch does not exist [name: ${name}]`,
  );
  if (resolved.kind !== 'branch') throw new ForgeProblem(422, `${name} is a ${resolved.kind}, not a branch`);
}

/**
 * Ends the request with 403 unless the author belongs to the base repository or may write to the head: read access is
 * not enough.
 */
function guardOpener(
  { context, repository, owner, permission, caller }: NewPullTarget,
  head: HeadBranch,
): void {
  const { db } = context;
  if (reaches(permission, 'write')) return;
  const sql = 'SELECT 1 AS one FROM collaborators WHERE repo_id = ? AND user_id = ?';
  if (db.get(sql, repository.id, caller.id) !== undefined) return;
  if (owner.type === 'organization' && isOrganizationMember(db, owner, caller)) return;
  if (reaches(head.permission, 'write')) return;
  throw new ForgeProblem(403, 'user should be a collaborator of the base or a writer of the head');
}

function refuseDouble({ context, repository }: NewPullTarget, head: HeadBranch, base: string): void {
  const branches = { baseId: repository.id, base, headId: head.repository.id, head: head.name };
  const number = findByBranches(context, branches, { openOnly: true });
  if (number === undefined) return;
  throw new ForgeProblem(
    409,
    `pull request already exists for these targets [index: ${number}, head: ${head.name}, base: ${base}]`,
  );
}

function findUnblockedAssignees(place: NewPullTarget, names: readonly string[]): readonly UserRow[] {
  const assignees = findAssignees(place.context, place, names);
  requireUnblocked(place.context.db, place.caller, [place.repository.owner_id]);
  return assignees;
}

function findWanted(place: NewPullTarget, text: PullText): WantedPull {
  const { context, repository } = place;
  const names = [...(text.assignees ?? []), ...(text.assignee ? [text.assignee] : [])];
  const milestoneId = text.milestone || undefined;
  if (milestoneId !== undefined && !hasMilestone(context, repository, milestoneId)) {
    throw new ForgeProblem(404, 'milestone does not exist');
  }
  return {
    labels: findLabels(context, place, text.labels ?? []),
    assignees: findUnblockedAssignees(place, names),
    reviewers: findReviewers(context, place.owner, {
      ...text,
      reviewers: [...new Set((text.reviewers ?? []).map((name) => name.toLowerCase()))],
    }),
    milestoneId,
    dueAt: parseTimestamp(text.due_date),
  };
}

/**
 * Inserts a pull request. The row exists before the first event, and is `checking` while events are sent, as in Gitea.
 */
async function insertPull(
  place: NewPullTarget,
  head: NewHead,
  text: PullText,
  wanted: WantedPull,
): Promise<IssueRow> {
  const { context, repository, caller } = place;
  const { db, git } = context;
  const { milestoneId, dueAt } = wanted;
  const issue = db.transaction(() => {
    const row = insertIssue(context, {
      repository,
      poster: caller,
      title: text.title,
      body: text.body,
      isPull: true,
      milestoneId,
      dueAt,
    });
    insertRow(place, head, text, row);
    const scene: IssueScene = { ...place, actor: caller, issueId: row.id };
    if (milestoneId) recordMilestone(context, scene, { from: 0, to: milestoneId });
    attachLabels(context, scene, wanted.labels);
    noteReferences(context, scene);
    attachAssignees(context, scene, wanted.assignees);
    return row;
  });
  const [baseGit, headGit] = [git.open(repository.id), git.open(head.repository.id)];
  const unreadable = new ForgeProblem(404, 'not found');
  try {
    const kept = `refs/pull/${issue.number}/head`;
    if (head.pushed === undefined) {
      const kept = findPull(context, place, issue.number).pull;
      if (!(await keepHead(context, kept, caller))) throw unreadable;
    } else await moveRefs(baseGit, [{ name: kept, before: undefined, after: head.pushed }]);
    const base = await resolveRef(baseGit, text.base);
    const tip = head.pushed ?? (await resolveRef(headGit, head.name))?.commit.id;
    const seen = await inspectPull(baseGit, base?.commit.id ?? '', tip ?? '');
    db.run(
      `UPDATE pulls SET base_sha = ?, head_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?
       WHERE issue_id = ?`,
      base?.commit.id ?? '',
      tip ?? '',
      seen.merge_base,
      seen.additions,
      seen.deletions,
      seen.changed_files,
      issue.id,
    );
    const both = findPull(context, place, issue.number);
    const asking = { ...place, actor: caller };
    for (const user of wanted.reviewers.people) guardRequest(context, asking, both, user);
    const push =
      base && tip
        ? await readHeadPush(baseGit, { before: base.commit.id, after: tip, base: base.commit.id })
        : undefined;
    const change = { title: issue.title, from: seen.merge_base, to: tip ?? seen.merge_base };
    const owners = await findCodeOwners(context, place, change);
    db.transaction(() => {
      if (push) recordHeadPush(context, { issueId: issue.id, actor: caller }, push);
      requestCodeOwners(context, asking, both, owners);
      emitOpened(place, issue, wanted);
      db.run('UPDATE pulls SET status = ? WHERE issue_id = ?', seen.status, issue.id);
    });
    return issue;
  } catch (error) {
    // If a review request is refused, the request fails but the pull request is kept, as in Gitea; any other failure
    // deletes it.
    const isKept = error instanceof ForgeProblem && error !== unreadable;
    if (!isKept) db.run('DELETE FROM issues WHERE id = ?', issue.id);
    throw error;
  }
}

function insertRow(
  { context, repository, caller }: NewPullTarget,
  head: NewHead,
  text: PullText,
  issue: IssueRow,
): void {
  const wished = text.allow_maintainer_edit ?? settingsOf(repository).default_allow_maintainer_edit;
  // Only an account that may write to the head can let others do so.
  const mayEdit = wished && mayWriteCode(context.db, caller, head.repository.id);
  const row: Pick<
    PullRow,
    'issue_id' | 'repo_id' | 'number' | 'base_branch' | 'head_repo_id' | 'head_branch' | 'flow'
  > = {
    issue_id: issue.id,
    repo_id: repository.id,
    number: issue.number,
    base_branch: text.base,
    head_repo_id: head.repository.id,
    head_branch: head.name,
    flow: head.pushed === undefined ? 0 : 1,
  };
  context.db.run(
    `INSERT INTO pulls (issue_id, repo_id, number, base_branch, head_repo_id, head_branch, flow, head_sha,
       merge_base, allow_maintainer_edit) VALUES (?, ?, ?, ?, ?, ?, ?, '', '', ?)`,
    ...Object.values(row),
    mayEdit,
  );
}

function emitOpened(place: NewPullTarget, issue: IssueRow, wanted: WantedPull): void {
  const { context, caller } = place;
  const scene: IssueScene = { ...place, actor: caller, issueId: issue.id };
  const both = findPull(context, place, issue.number);
  const asking = { ...place, actor: caller };
  for (const user of wanted.reviewers.people) requestReview(context, asking, both, user);
  for (const team of wanted.reviewers.teams) requestTeamReview(context, asking, both, team);
  recordActivity(context, {
    repositoryId: place.repository.id,
    actorId: caller.id,
    type: 'create_pull_request',
    content: `${issue.number}|${issue.title}`,
  });
  emitIssue(context, scene, { action: 'opened' });
  notifyOpened(context, scene);
  if (wanted.labels.length > 0) emitIssue(context, scene, { topic: 'label', action: 'label_updated' });
  if (wanted.milestoneId) emitIssue(context, scene, { topic: 'milestone', action: 'milestoned' });
  emitAssignees(context, scene, wanted.assignees);
}
