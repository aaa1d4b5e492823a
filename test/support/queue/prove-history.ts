import { join } from 'node:path';
import { expect } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import type { QueueHistoryRow } from '../../../src/store/queue-rows.ts';
import { runGit } from '../git-client.ts';
import { botName } from './queue-installation.ts';
import { newestQueueStatus } from './queue-repository.ts';
import { listAllPulls, listStageQueues, type QueueStage } from './queue-stage.ts';

/** Commit as reported by git. */
type GitCommit = { readonly tree: string; readonly parents: readonly string[] };

/** Fails unless a finished history has kept the promises of merge queues, according to git and the forge. */
export async function proveHistory(stage: QueueStage): Promise<void> {
  const rows = (
    await stage.bot.store.listQueueHistory({ repositoryId: stage.repositoryId, limit: 500 })
  ).toReversed();
  const pulls = await listAllPulls(stage);
  await proveEnded(stage, rows);
  await proveMerges(stage, rows, pulls);
  proveOrder(rows);
  for (const pull of pulls) await proveTold(stage, pull, rows);
}

/** Proves that no pull request, write or job is waiting, and that none was given up. */
async function proveEnded({ bot, ...stage }: QueueStage, rows: readonly QueueHistoryRow[]): Promise<void> {
  for (const { base, entries, outbox, attempt } of await listStageQueues({ bot, ...stage }))
    expect({ base, entries, outbox, attempt }).toEqual({ base, entries: [], outbox: [], attempt: undefined });
  const { accepted, claimed, retry, deferred } = await bot.store.counts();
  expect({ accepted, claimed, retry, deferred }).toEqual({ accepted: 0, claimed: 0, retry: 0, deferred: 0 });
  const { items: dead } = await bot.store.listDeliveries({ state: 'dead', limit: 500 });
  const isMine = ({ repositoryId, lane }: (typeof dead)[0]): boolean =>
    repositoryId === stage.repositoryId || lane?.split(' ')[1] === String(stage.repositoryId);
  expect(dead.filter(isMine).map(({ eventType, reason }) => [eventType, reason])).toEqual([]);
  const inside = new Set<string>();
  for (const { kind, number, base } of rows) {
    const name = `#${number} in ${base}`;
    if (kind === 'entered') {
      expect(inside, 'enters what is not there').not.toContain(name);
      inside.add(name);
    }
    if (kind !== 'merged' && kind !== 'left') continue;
    expect(inside, 'leaves what is there').toContain(name);
    inside.delete(name);
  }
  expect([...inside]).toEqual([]);
}

/**
 * Proves that each merge contains what was tested: a head that was green, together with the base onto which it was
 * merged.
 */
async function proveMerges(
  { checks, raced, ...stage }: QueueStage,
  rows: readonly QueueHistoryRow[],
  pulls: readonly PullRequest[],
): Promise<void> {
  // Pull requests that were deleted since then cannot be compared.
  const isThere = new Set(pulls.map(({ number }) => number));
  const mine = rows.filter(({ number = 0 }) => isThere.has(number));
  const merged = mine.filter(({ kind }) => kind === 'merged');
  // The list does not show who merged a pull request.
  const read = ({ number: index }: PullRequest) =>
    stage.root.call(operations.getPull, { params: { ...stage.at, index } });
  const byBot = (await Promise.all(pulls.filter((pull) => pull.merged).map(read))).filter(
    (pull) => pull.merged_by?.login === botName,
  );
  expect(merged.map(({ number }) => number).toSorted()).toEqual(byBot.map(({ number }) => number).toSorted());
  const commits = await readCommits(stage);
  const untested: (number | undefined)[] = [];
  for (const { number, merge_commit_sha, merged_at, head } of byBot) {
    const [name, sha] = [merge_commit_sha ?? '', head?.sha ?? ''];
    // The clock of the forge stands still while the bot works, and advances before anything else happens.
    const known = checks.filter(
      (one) => one.sha === sha && secondOf(one.at) <= secondOf(new Date(merged_at ?? '')),
    );
    expect(known.at(-1)?.state, `CI on the head of #${number} when it was merged`).toBe('success');
    const [commit, tested] = [commits.get(name), commits.get(sha)];
    const [onto = ''] = name === sha ? [] : (commit?.parents ?? []);
    if (name !== sha && !isContained(onto, sha, commits)) {
      expect(raced, `#${number} was merged onto a base that its head lacked`).toContain(number);
      untested.push(number);
    } else expect(commit?.tree, `what #${number} brought is what was tested`).toBe(tested?.tree);
  }
  const told = mine.filter(({ kind }) => kind === 'foreign-write').map(({ number }) => number);
  expect(told.toSorted(), 'writes to the base in the moment of a merge').toEqual(untested.toSorted());
}

/**
 * Proves that each merge is of the pull request that entered first among those with the same priority. One that entered
 * for an earlier delivery than others, because runs of several pull requests end in any order, was placed before them,
 * and its history says so.
 */
function proveOrder(rows: readonly QueueHistoryRow[]): void {
  const inside: { readonly number: number; readonly base: string; readonly priority: number }[] = [];
  for (const { kind, number = 0, base, text } of rows) {
    const at = inside.findIndex((one) => one.number === number && one.base === base);
    if (kind === 'entered') {
      const [, priority, overtaken] =
        /priority (-?\d+)(?:, before #(\d+), whose delivery arrived later)?$/.exec(text) ?? [];
      const next = inside.findIndex((one) => one.number === Number(overtaken) && one.base === base);
      if (overtaken !== undefined) expect(next, `where #${number} entered`).not.toBe(-1);
      inside.splice(next === -1 ? inside.length : next, 0, { number, base, priority: Number(priority) });
    }
    if (kind === 'left') inside.splice(at, 1);
    if (kind !== 'merged') continue;
    const [one] = inside.splice(at, 1);
    const earlier = inside.slice(0, at).filter((other) => other.base === base);
    const overtaken = earlier.filter(({ priority }) => priority === one?.priority);
    expect(overtaken, `what #${number} has overtaken`).toEqual([]);
  }
}

/** Proves that a pull request that left has the reason in a status on its head and in one comment. */
async function proveTold(
  { root, at }: QueueStage,
  { number, merged, head }: PullRequest,
  rows: readonly QueueHistoryRow[],
): Promise<void> {
  // The only comment contains the latest message.
  const mine = rows.filter((row) => row.number === number && ['left', 'foreign-write'].includes(row.kind));
  const comments = await root.call(operations.listComments, { params: { ...at, index: number } });
  const bodies = comments.filter(({ user }) => user?.login === botName).map(({ body }) => body ?? '');
  const markers = bodies.map((body) => body.split('\n')[0]);
  expect(markers.toSorted(), `comments on #${number}`).toEqual([...new Set(markers)].toSorted());
  const last = mine.at(-1);
  if (last && last.reason !== 'merged-elsewhere')
    expect(bodies.join(), `why #${number} left`).toContain(last.text.slice(0, 20));
  if (merged) return;
  const newest = await newestQueueStatus(root, at, head?.sha ?? '');
  expect([undefined, 'failure', 'error'], `the status of #${number}`).toContain(newest);
}

const secondOf = (at: Date): number => Math.floor(at.getTime() / 1_000);

async function readCommits({
  repositories,
  repositoryId,
}: Pick<QueueStage, 'repositories' | 'repositoryId'>): Promise<ReadonlyMap<string, GitCommit>> {
  const folder = join(repositories, `${repositoryId}.git`);
  const text = await runGit(folder, ['log', '--all', '--format=%H %T %P']);
  const commits = new Map<string, GitCommit>();
  for (const line of text.trim().split('\n')) {
    const [name = '', tree = '', ...parents] = line.split(' ');
    commits.set(name, { tree, parents });
  }
  return commits;
}

function isContained(commit: string, head: string, commits: ReadonlyMap<string, GitCommit>): boolean {
  const seen = new Set<string>();
  const open = [head];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (one === commit) return true;
    if (seen.has(one)) continue;
    seen.add(one);
    open.push(...(commits.get(one)?.parents ?? []));
  }
  return false;
}
