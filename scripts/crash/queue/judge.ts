import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import type { QueueHistoryRow } from '../../../src/store/queue-rows.ts';
import { botName } from '../../harness/installation.ts';
import { type CheckReport, type Contribution, git, passes } from './checks.ts';
import type { QueueForge } from './forge.ts';
import type { MergeRequest } from './requests.ts';

/**
 * Result of a merge queue according to the forge, its git and CI. From `mergedTwice` to `comments`, all numbers must be
 * 0.
 */
export type QueueReport = {
  readonly pulls: number;
  readonly merged: number;
  /** Pull requests that left the queue with a failed check, or with a conflict. */
  readonly failed: number;
  readonly conflicting: number;
  /** Merged more than once, according to the responses of the forge or the contents of the base branch. */
  readonly mergedTwice: number;
  /** Merged without an earlier success of CI on that head, or with contents that CI has not seen. */
  readonly untested: number;
  /** Commits of the base branch that fail. */
  readonly brokenBases: number;
  /** Neither merged nor given a reason. */
  readonly lost: number;
  /**
   * Merged or refused wrongly for its contents: a plain one that left, a broken one that was merged, a pair of which
   * none was merged.
   */
  readonly wrong: number;
  /**
   * The history of the queue contradicts the forge, or does not say exactly once that the pull request entered and how
   * it left.
   */
  readonly misreported: number;
  /** Comments on one pull request beyond the first. */
  readonly comments: number;
  /** Statuses that repeat the previous one, for example after a lost response. */
  readonly repeated: number;
  readonly requests: number;
};

/** Observations from outside. */
type Seen = {
  readonly contributions: readonly Contribution[];
  readonly reports: readonly CheckReport[];
  readonly merges: readonly MergeRequest[];
  readonly history: readonly QueueHistoryRow[];
};

type PullEnd = {
  readonly number: number;
  readonly head: string;
  readonly merged: boolean;
  readonly reasons: readonly string[];
  readonly repeated: number;
};

/** Judges the observations of a run. `onWrong` receives each finding. */
export async function judgeQueue(
  forge: QueueForge,
  { contributions, reports, merges, history }: Seen,
  onWrong: (finding: string) => void,
): Promise<QueueReport> {
  const ends = await readEnds(forge);
  const findings = <Item>(items: readonly Item[], isFound: (item: Item) => boolean, name: string): number => {
    const found = items.filter(isFound);
    for (const one of found) onWrong(`${name}: ${JSON.stringify(one)}`);
    return found.length;
  };
  const onBase = await readBase(forge);
  const merged = ends.filter((end) => end.merged);
  const isRepeated = ({ number, head }: PullEnd): boolean =>
    merges.filter((one) => one.number === number && one.status === 200).length > 1 ||
    onBase.filter((commit) => commit.merged === head).length !== 1;
  const isUntested = ({ number, head }: PullEnd): boolean => {
    const sentMs = merges.find((one) => one.number === number && one.status === 200)?.atMs ?? 0;
    const isGreen = reports.some((one) => one.sha === head && one.state === 'success' && one.atMs < sentMs);
    const commit = onBase.find((one) => one.merged === head);
    return !isGreen || commit === undefined || commit.tree !== commit.mergedTree;
  };
  const said = (word: string) => ends.filter((end) => end.reasons.join().includes(word)).length;
  const broken: string[] = [];
  for (const { sha } of onBase) if (!(await passes(forge.folder, sha))) broken.push(sha);
  const foreign = onBase.filter((one) => !merged.some(({ head }) => head === one.merged));
  return {
    pulls: ends.length,
    merged: merged.length,
    failed: said('the check ci failed'),
    conflicting: said('it conflicts with'),
    mergedTwice: findings(merged, isRepeated, 'merged twice') + findings(foreign, () => true, 'on the base'),
    untested: findings(merged, isUntested, 'untested'),
    brokenBases: findings(broken, () => true, 'a broken base'),
    lost: findings(ends, (end) => !end.merged && end.reasons.length === 0, 'lost'),
    wrong: findings(contributions, (one) => !isRight(one, ends), 'against what it brings'),
    misreported: findings(ends, (end) => !isReported(end, history), 'the history is wrong'),
    comments: findings(ends, ({ reasons }) => reasons.length > 1, 'commented more than once'),
    repeated: ends.reduce((sum, end) => sum + end.repeated, 0),
    requests: merges.length,
  };
}

/** Returns whether a contribution ended as it must. */
function isRight({ kind, numbers }: Contribution, ends: readonly PullEnd[]): boolean {
  const mine = ends.filter(({ number }) => numbers.includes(number));
  const merged = mine.filter((end) => end.merged);
  const others = mine.filter((end) => !end.merged).flatMap(({ reasons }) => reasons);
  if (mine.length !== numbers.length) return false;
  if (kind === 'plain') return merged.length === 1;
  const why = kind === 'conflict' ? 'it conflicts with' : 'the check ci failed';
  return merged.length === (kind === 'broken' ? 0 : 1) && others.every((reason) => reason.includes(why));
}

function isReported({ number, merged }: PullEnd, history: readonly QueueHistoryRow[]): boolean {
  const mine = history.filter((row) => row.number === number).map(({ kind }) => kind);
  const events = mine.filter((kind) => ['entered', 'merged', 'left', 'foreign-write'].includes(kind));
  return events.join() === `entered,${merged ? 'merged' : 'left'}`;
}

async function readEnds(forge: QueueForge): Promise<readonly PullEnd[]> {
  const { root, at } = forge;
  const ends: PullEnd[] = [];
  const query = { state: 'all', limit: 50 };
  for await (const { number: index } of root.items(operations.listPulls, { params: at, query })) {
    // The list does not say who merged.
    ends.push(await readEnd(forge, await root.call(operations.getPull, { params: { ...at, index } })));
  }
  return ends;
}

async function readEnd(
  { root, at }: QueueForge,
  { number, merged, merged_by, head }: PullRequest,
): Promise<PullEnd> {
  const params = { ...at, index: number };
  const comments = await root.call(operations.listComments, { params });
  const sha = head?.sha ?? '';
  const statuses: string[] = [];
  for await (const one of root.items(operations.listStatuses, {
    params: { ...at, sha },
    query: { sort: 'oldest' },
  }))
    if (one.context === 'reeve/queue') statuses.push(`${one.status} ${one.description}`);
  return {
    number,
    head: sha,
    merged: merged === true && merged_by?.login === botName,
    reasons: comments.filter(({ user }) => user?.login === botName).map(({ body }) => body ?? ''),
    repeated: statuses.filter((one, index) => one === statuses[index - 1]).length,
  };
}

/** Returns the commits that were added to the base, in order, with what each of them merged. */
async function readBase({ folder }: QueueForge) {
  const log = await git(folder, 'log', '--first-parent', '--reverse', '--format=%H %T %P', 'main');
  const [, ...lines] = log.split('\n');
  const commits: {
    readonly sha: string;
    readonly tree: string;
    readonly merged: string;
    readonly mergedTree: string;
  }[] = [];
  for (const line of lines) {
    const [sha = '', tree = '', , merged = ''] = line.split(' ');
    const mergedTree = merged === '' ? '' : await git(folder, 'rev-parse', `${merged}^{tree}`);
    commits.push({ sha, tree, merged, mergedTree });
  }
  return commits;
}
