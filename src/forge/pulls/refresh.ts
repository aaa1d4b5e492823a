import { emitPull, type PullContext } from '../hooks/events.ts';
import { isBlocked } from '../issues/dependencies-service.ts';
import { recordEvent, type TimelineRow } from '../issues/timeline-rows.ts';
import { numberedContent, recordActivity } from '../notifications/activities-service.ts';
import { notifyActivity } from '../notifications/notifications-service.ts';
import { permitCopy } from '../platform/access/code.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { findMergeBase, findMergeCommit, isAncestor, listIds } from '../platform/git/history.ts';
import { takeRef } from '../platform/git/merge.ts';
import { moveRefs, readBranch, readCommit, readRef } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { inspectPull, scheduleChecks } from './checks.ts';
import { findCodeOwners, requestCodeOwners } from './code-owners.ts';
import { followHeadWithReviews, hasReviews, isOtherChange } from './reviews-service.ts';

/** A branch that was moved, created or deleted. */
type MovedBranch = { readonly repositoryId: number; readonly name: string };

const openPulls = /* sql */ `
SELECT p.* FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0`;

/**
 * Updates the open pull requests that have a branch as head or base to the current state of the branches. It reads the
 * branches, not the content of a push: the last update sees all changes, so concurrent pushes end in the same state.
 */
export async function refreshPulls(
  context: ForgeContext,
  branch: MovedBranch,
  actor: UserRow,
): Promise<void> {
  const { db, git } = context;
  const heads = db.all<PullRow>(
    `${openPulls} AND p.head_repo_id = ? AND p.head_branch = ? AND p.flow = 0 ORDER BY p.id`,
    branch.repositoryId,
    branch.name,
  );
  for (const { id, repo_id } of heads) {
    await git.exclusively(repo_id, 'pulls', () => followHead(context, id, actor));
  }
  const tip = (await readBranch(git.open(branch.repositoryId), branch.name))?.id ?? '';
  db.run(
    `UPDATE pulls SET moved_sha = iif(head_sha = ?1, '', ?1) WHERE head_repo_id = ?2 AND head_branch = ?3 AND flow = 0
       AND is_head_gone = 0 AND issue_id IN (SELECT id FROM issues WHERE is_closed = 1)`,
    tip,
    branch.repositoryId,
    branch.name,
  );
  await git.exclusively(branch.repositoryId, 'pulls', () => followBase(context, branch, actor));
}

/** Refreshes a reopened pull request, whose branches may have moved while it was closed. */
export function followReopened(context: ForgeContext, issueId: number, actor: UserRow): void {
  const { db, git, background } = context;
  const pull = db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issueId);
  if (!pull) return;
  db.run(`UPDATE pulls SET status = 'checking', moved_sha = '' WHERE id = ?`, pull.id);
  db.afterCommit(() => {
    background.add(() => git.exclusively(pull.repo_id, 'pulls', () => followHead(context, pull.id, actor)));
    scheduleChecks(context);
  });
}

/** Reads the head commit: the head of the branch, or the commit pushed for review. */
function readHead(
  git: GitRepository,
  { flow, head_branch, number }: PullRow,
): Promise<CommitData | undefined> {
  return flow === 0 ? readBranch(git, head_branch) : readCommit(git, `refs/pull/${number}/head`);
}

/**
 * Updates an open pull request to its current head. Call it inside the repository's exclusive `pulls` work. Commits of
 * another repository are copied on behalf of the author: if the author may no longer read them, the pull request is
 * left unchanged.
 */
export async function followHead(context: ForgeContext, id: number, actor: UserRow): Promise<void> {
  const { db, git } = context;
  const pull = db.get<PullRow>(`${openPulls} AND p.id = ?`, id);
  const place = pull && pullContext(context, pull.repo_id, actor);
  if (!pull || !place || pull.head_repo_id === null) return;
  const [baseGit, headGit] = [git.open(pull.repo_id), git.open(pull.head_repo_id)];
  const [base, head] = [await readBranch(baseGit, pull.base_branch), await readHead(headGit, pull)];
  if (!head) {
    db.run('UPDATE pulls SET is_head_gone = 1 WHERE id = ?', id);
    closePull(context, place, pull);
    return;
  }
  const issue = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', pull.issue_id);
  if (!base || !issue || head.id === pull.head_sha) return;
  if (pull.flow === 0 && !(await keepHead(context, pull, { id: issue.poster_id }))) return;
  const seen = await inspectPull(baseGit, base.id, head.id);
  const push = await readHeadPush(baseGit, { before: pull.head_sha, after: head.id, base: base.id });
  const isOther = hasReviews(db, pull.issue_id) && (await isOtherHead(baseGit, pull, base.id, head.id));
  const change = { title: issue.title, from: seen.merge_base, to: head.id };
  const owners = await findCodeOwners(context, place, change);
  db.transaction(() => {
    db.run(
      `UPDATE pulls SET head_sha = ?, base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?,
         status = 'checking' WHERE id = ?`,
      head.id,
      base.id,
      seen.merge_base,
      seen.additions,
      seen.deletions,
      seen.changed_files,
      id,
    );
    db.run('UPDATE issues SET updated_at = ? WHERE id = ?', secondsOf(context.clock()), pull.issue_id);
    followHeadWithReviews(context, pull, { head: head.id, isOtherChange: isOther, actor });
    recordHeadPush(context, { issueId: pull.issue_id, actor }, push);
    requestCodeOwners(context, place, { issue, pull }, owners);
    const heads = { before: pull.head_sha, after: head.id };
    emitPull(context, place, pull.issue_id, { type: 'pull_request_sync', action: 'synchronized', ...heads });
    notifyActivity(context, { ...place, issueId: pull.issue_id });
    // The event is sent before the status is stored, as in Gitea, where the conflict check runs after the event.
    db.run('UPDATE pulls SET status = ? WHERE id = ?', seen.status, id);
  });
}

/** Returns whether a new head makes reviews stale. A push for review (`refs/for/`) always does, whatever it changes. */
async function isOtherHead(git: GitRepository, pull: PullRow, base: string, head: string): Promise<boolean> {
  if (pull.flow !== 0) return true;
  const mergeBase = await findMergeBase(git, base, head);
  return await isOtherChange(git, { before: pull.head_sha, after: head, mergeBase });
}

/** Updates the pull requests into a branch. There may be hundreds, so all are marked at once and checked afterwards. */
async function followBase(context: ForgeContext, branch: MovedBranch, actor: UserRow): Promise<void> {
  const { db, git } = context;
  const base = await readBranch(git.open(branch.repositoryId), branch.name);
  const pulls = db.all<PullRow>(
    `${openPulls} AND p.repo_id = ? AND p.base_branch = ? AND p.base_sha <> ? ORDER BY p.id`,
    branch.repositoryId,
    branch.name,
    base?.id ?? '',
  );
  const place = pulls.length === 0 ? undefined : pullContext(context, branch.repositoryId, actor);
  if (!place) return;
  for (const pull of pulls) {
    if (!base) closePull(context, place, pull);
    else if (await wasMergedByHand(place.repository, git.open(pull.repo_id), pull, base.id)) {
      await recordMerge(context, place, pull, base.id);
    } else {
      db.run(`UPDATE pulls SET base_sha = ?, status = 'checking' WHERE id = ?`, base.id, pull.id);
    }
  }
  scheduleChecks(context);
}

/**
 * Returns whether a pull request was merged outside the forge: its head became part of the base, and the repository
 * setting enables the detection.
 */
async function wasMergedByHand(
  repository: RepositoryRow,
  git: GitRepository,
  pull: PullRow,
  base: string,
): Promise<boolean> {
  if (!settingsOf(repository).autodetect_manual_merge || pull.merge_base === pull.head_sha) return false;
  return await isAncestor(git, pull.head_sha, base);
}

async function recordMerge(
  context: ForgeContext,
  place: PullContext,
  pull: PullRow,
  base: string,
): Promise<void> {
  const found = await findMergeCommit(context.git.open(pull.repo_id), pull.head_sha, base);
  context.db.transaction(() => {
    markMerged(context, pull, { commit: found ?? pull.head_sha, base, merger: place.actor });
    emitClosed(context, place, pull);
  });
}

/**
 * Stores the head commit in the base repository, under the ref from which everyone can fetch it. Returns false if the
 * author of the pull request may not currently read the code of the head; nothing is copied then.
 */
export async function keepHead(
  context: ForgeContext,
  pull: Pick<PullRow, 'number' | 'repo_id' | 'head_repo_id' | 'head_branch'>,
  author: Pick<UserRow, 'id' | 'is_public_only'>,
): Promise<boolean> {
  const headId = pull.head_repo_id;
  if (headId === null) return false;
  const [base, head] = [context.git.open(pull.repo_id), context.git.open(headId)];
  const target = `refs/pull/${pull.number}/head`;
  const source = `refs/heads/${pull.head_branch}`;
  if (base.id !== head.id) {
    const permit = permitCopy(context, [author], headId);
    if (permit) await takeRef(base, head, { source, target, permit });
    return permit !== undefined;
  }
  const [before, after] = [await readRef(base, target), await readRef(head, source)];
  if (after !== undefined && after !== before) await moveRefs(base, [{ name: target, before, after }]);
  return true;
}

function pullContext(context: ForgeContext, repositoryId: number, actor: UserRow): PullContext | undefined {
  const repository = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner =
    repository && context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  return repository && owner && { repository, owner, actor };
}

/** Maximum commits in a timeline entry of a push to the head. */
const maxCommits = 1000;

type HeadPush = {
  readonly isForced: boolean;
  readonly before: string;
  readonly after: string;
  /** Oldest first; after a force-push, all commits of the pull request. */
  readonly commitIds: readonly string[];
};

/** The body of a `pull_push` entry, in Gitea's spelling. */
type PushBody = { readonly is_force_push: boolean; readonly commit_ids: readonly string[] };

/**
 * Reads the commits of a push. All are in the base's repository. For a new pull request, `before` is the base itself.
 */
export async function readHeadPush(
  git: GitRepository,
  { before, after, base }: { readonly before: string; readonly after: string; readonly base: string },
): Promise<HeadPush> {
  const isForced = before !== base && !(await isAncestor(git, before, after));
  const known = isForced ? [base] : [before, base];
  return { isForced, before, after, commitIds: await listIds(git, { to: after, known }, maxCommits) };
}

/** Records a push in the timeline. After a force-push, removed commits are deleted from earlier entries. */
export function recordHeadPush(
  context: ForgeContext,
  scene: { readonly issueId: number; readonly actor: UserRow },
  push: HeadPush,
): void {
  const commitIds = push.isForced ? reconcile(context, scene.issueId, push.commitIds) : push.commitIds;
  const add = (body: PushBody) =>
    recordEvent(context, scene, { type: 'pull_push', body: JSON.stringify(body) });
  if (commitIds.length > 0) add({ is_force_push: false, commit_ids: commitIds });
  if (push.isForced) add({ is_force_push: true, commit_ids: [push.before, push.after] });
}

/** Reduces earlier entries to the commits that still exist. Returns the commits that no earlier entry names. */
function reconcile({ db }: ForgeContext, issueId: number, present: readonly string[]): readonly string[] {
  const rows = db.all<TimelineRow>(
    `SELECT * FROM timeline WHERE issue_id = ? AND type = 'pull_push' ORDER BY id`,
    issueId,
  );
  const unnamed = new Set(present);
  for (const { id, body } of rows) {
    // The cast is safe: only `recordHeadPush` writes this body.
    const entry = JSON.parse(body) as PushBody;
    if (entry.is_force_push) continue;
    const kept = entry.commit_ids.filter((commit) => unnamed.delete(commit));
    const text = JSON.stringify({ is_force_push: false, commit_ids: kept });
    if (kept.length === 0) db.run('DELETE FROM timeline WHERE id = ?', id);
    else db.run('UPDATE timeline SET body = ? WHERE id = ?', text, id);
  }
  return [...unnamed];
}

/**
 * Closes a pull request because one of its branches was deleted, and sends the event. A pull request blocked by an open
 * issue stays open.
 */
function closePull(context: ForgeContext, place: PullContext, pull: PullRow): void {
  context.db.transaction(() => {
    if (isBlocked(context, place.repository, pull.issue_id)) return;
    closeIssue(context, pull);
    recordEvent(context, { issueId: pull.issue_id, actor: place.actor }, { type: 'close' });
    const told = {
      repositoryId: pull.repo_id,
      actorId: place.actor.id,
      content: numberedContent(pull.number, ''),
    };
    recordActivity(context, { ...told, type: 'close_pull_request' });
    emitClosed(context, place, pull);
  });
}

/** Records that a pull request is merged. Call `emitClosed` afterwards. */
export function markMerged(
  context: ForgeContext,
  pull: PullRow,
  merge: { readonly commit: string; readonly base: string; readonly merger: UserRow },
): void {
  context.db.transaction(() => {
    context.db.run(
      'UPDATE pulls SET is_merged = 1, merged_commit_sha = ?, merged_at = ?, merger_id = ?, base_sha = ? WHERE id = ?',
      merge.commit,
      secondsOf(context.clock()),
      merge.merger.id,
      merge.base,
      pull.id,
    );
    closeIssue(context, pull);
    recordEvent(context, { issueId: pull.issue_id, actor: merge.merger }, { type: 'merge_pull' });
    const issue = context.db.get<{ title: string }>('SELECT title FROM issues WHERE id = ?', pull.issue_id);
    recordActivity(context, {
      repositoryId: pull.repo_id,
      actorId: merge.merger.id,
      type: 'merge_pull_request',
      content: `${pull.number}|${issue?.title ?? ''}`,
    });
  });
}

function closeIssue({ db, clock }: ForgeContext, pull: PullRow): void {
  const now = secondsOf(clock());
  db.run(
    'UPDATE issues SET is_closed = 1, closed_at = ?, updated_at = ? WHERE id = ?',
    now,
    now,
    pull.issue_id,
  );
}

/** Sends the events and notifications of a closed pull request, merged or not. */
export function emitClosed(context: ForgeContext, place: PullContext, pull: PullRow): void {
  emitPull(context, place, pull.issue_id, { type: 'pull_request', action: 'closed' });
  notifyActivity(context, { ...place, issueId: pull.issue_id });
}
