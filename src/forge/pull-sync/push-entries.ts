import type { ForgeContext } from '../core/context.ts';
import type { TimelineRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { recordEvent } from '../events/timeline.ts';
import { isAncestor, listIds } from '../git/history.ts';
import type { GitRepository } from '../git/repository.ts';

/** What a timeline tells of a push to the head of a pull request; more commits are not named. */
const maxCommits = 1000;

type HeadPush = {
  readonly isForced: boolean;
  readonly before: string;
  readonly after: string;
  /** Oldest first; after a forced push all commits of the pull request. */
  readonly commitIds: readonly string[];
};

/** The body of a `pull_push` entry, in Gitea's spelling. */
type PushBody = { readonly is_force_push: boolean; readonly commit_ids: readonly string[] };

/** Reads what a push brought. All commits are in the base's repository; `before` is the base itself for a new pull request. */
export async function readHeadPush(
  git: GitRepository,
  { before, after, base }: { readonly before: string; readonly after: string; readonly base: string },
): Promise<HeadPush> {
  const isForced = before !== base && !(await isAncestor(git, before, after));
  const known = isForced ? [base] : [before, base];
  return { isForced, before, after, commitIds: await listIds(git, { to: after, known }, maxCommits) };
}

/** Notes a push in the timeline; after a forced one, commits that are gone leave the entries before it. */
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

/** Keeps in earlier entries the commits that are still there; returns those that no earlier entry names. */
function reconcile({ db }: ForgeContext, issueId: number, present: readonly string[]): readonly string[] {
  const rows = db.all<TimelineRow>(
    `SELECT * FROM timeline WHERE issue_id = ? AND type = 'pull_push' ORDER BY id`,
    issueId,
  );
  const unnamed = new Set(present);
  for (const { id, body } of rows) {
    // Written by `recordHeadPush` alone.
    const entry = JSON.parse(body) as PushBody;
    if (entry.is_force_push) continue;
    const kept = entry.commit_ids.filter((commit) => unnamed.delete(commit));
    const text = JSON.stringify({ is_force_push: false, commit_ids: kept });
    if (kept.length === 0) db.run('DELETE FROM timeline WHERE id = ?', id);
    else db.run('UPDATE timeline SET body = ? WHERE id = ?', text, id);
  }
  return [...unnamed];
}
