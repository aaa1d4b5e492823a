import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { operations } from '../../../src/contract/operations.ts';
import { readNumber } from '../../harness/database.ts';
import { at, type Installation, startInstallation } from '../../harness/installation.ts';
import { describeOthers, type LoadResult, sendAtRate } from '../../harness/sender.ts';
import type { Drill } from '../promise.ts';

const perSecond = 200;
const bodyBytes = 10_000;
const [maxP99Ms, maxMs] = [50, 500];
/**
 * If the machine paused another program for this long, the run is repeated. The last run counts, whatever the machine
 * did.
 */
const pauseMs = maxMs / 2;
const maxRuns = 3;
/** One in this many deliveries has an event for which a rule sends requests to the forge: twenty runs per second. */
const labelledEvery = 10;
/** Number of issues, which are handled in parallel. */
const issues = 19;

/** The first three rules are evaluated for each delivery, and read its whole text. */
const rules = `version: 1
rules:
  by-words:
    on: issues.edited
    if: event.issue.body.matches("(?i)\\\\b(crash|panic|segfault)\\\\b") && event.issue.body.contains("no such text")
    steps: [{ uses: set-labels, with: { add: [never] } }]
  by-lines:
    on: issues.edited
    if: event.issue.body.split("\\n").exists(line, line.startsWith("### Version") && line.endsWith("no such version"))
    steps: [{ uses: set-labels, with: { add: [never] } }]
  by-title:
    on: issues.edited
    if: event.issue.title.matches("^(feat|fix|docs)!?:")
    steps: [{ uses: set-labels, with: { add: [never] } }]
  mark:
    on: issues.reopened
    steps: [{ uses: set-labels, with: { sync: { odd: 'event.issue.body.startsWith("odd")' } } }]
`;

/** Measures the time until a delivery is acknowledged, while the rules of earlier ones run. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const seconds = isQuick ? 10 : 300;
  const installation = await startInstallation({
    rules,
    labels: ['never', 'odd'],
    settings: 'limits: { hour: 100000 }\n',
  });
  try {
    for (let made = 0; made < issues; made += 1)
      await installation.root.call(operations.createIssue, { params: at, body: { title: 'A report' } });
    const make = makerOf(installation);
    const common = { url: installation.url, perSecond, make, signal };
    await sendAtRate({ ...common, seconds: 3 });
    let sent = 3 * perSecond;
    for (let run = 1; ; run += 1) {
      const { result, pauses } = await whileWatched(join(installation.folder, 'watched'), () =>
        Promise.race([sendAtRate({ ...common, seconds }), installation.failed]),
      );
      sent += result.sent;
      const { handled, left } = await waitForRuns(installation, sent, signal);
      const isComplete = result.others.size === 0 && left === 0;
      const isFast = result.p99Ms <= maxP99Ms && result.maxMs <= maxMs;
      if (isComplete && !isFast && isHeldUp(pauses) && run < maxRuns) continue;
      const runs = `${handled.toLocaleString('en')} runs meanwhile and after it${left > 0 ? `, ${left} not handled` : ''}`;
      return {
        figure: `${describe(result, pauses)}${run > 1 ? `, in run ${run}: the machine paused in those before` : ''}; ${runs}`,
        isKept: isComplete && isFast,
      };
    }
  } finally {
    await installation.close();
  }
};

function isHeldUp({ syncMs, timerMs }: MachinePauses): boolean {
  return Math.max(syncMs, timerMs) >= pauseMs;
}

function describe({ sent, p99Ms, maxMs: slowestMs, others }: LoadResult, pauses: MachinePauses): string {
  const counts = `${sent.toLocaleString('en')} deliveries of 10 KB at ${perSecond}/s`;
  const times = `p99 ${p99Ms.toFixed(1)} ms, max ${slowestMs.toFixed(0)} ms${describeOthers(others)}`;
  const [syncMs, timerMs] = [pauses.syncMs.toFixed(0), pauses.timerMs.toFixed(0)];
  return `${counts}: ${times}; another thread meanwhile: slowest sync ${syncMs} ms, latest timer ${timerMs} ms`;
}

function makerOf({ repositoryId }: Installation) {
  const owner = { id: 2, login: at.owner };
  const repository = { id: repositoryId, name: at.repo, full_name: `${at.owner}/${at.repo}`, owner };
  const sender = { id: 1, login: 'root' };
  const lines = 'A line of a report, as long as people write them, with a crash or two.\n';
  return (number: number): { readonly eventType: string; readonly body: string } => {
    const isLabelled = number % labelledEvery === 0;
    const parity = Math.floor(number / labelledEvery) % 2 === 0 ? 'odd' : 'even';
    const index = (number % issues) + 1;
    const text = `${parity} ${number} ${randomUUID()}\n${lines.repeat((bodyBytes - 500) / lines.length)}`;
    const issue = { id: 1, number: index, title: 'A report', state: 'open', body: text, user: sender };
    const action = isLabelled ? 'reopened' : 'edited';
    return {
      eventType: 'issues',
      body: JSON.stringify({ action, number: index, issue, repository, sender }),
    };
  };
}

/** Waits until no delivery waits, at most two minutes; returns how many have runs, and how many still wait. */
async function waitForRuns({ database }: Installation, sent: number, signal: AbortSignal) {
  const settled = `SELECT count(*) AS n FROM deliveries WHERE door = 'webhook' AND state = 'settled'`;
  for (let seconds = 0; ; seconds += 1) {
    const left = sent - readNumber(database, settled);
    if (left <= 0 || seconds === 120)
      return { left, handled: readNumber(database, 'SELECT count(*) AS n FROM runs') };
    await sleep(1_000, undefined, { signal });
  }
}

/** Longest pause of a thread that only waits and syncs a few bytes, caused by the machine. */
export type MachinePauses = { readonly syncMs: number; readonly timerMs: number };

/**
 * Does the work while watching the disk and the CPUs, with a file at `path`. If the pauses are as long as the measured
 * times, the result only describes the machine.
 */
async function whileWatched<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly pauses: MachinePauses }> {
  const watcher = new Worker(new URL('../children/watch-machine.ts', import.meta.url), { workerData: path });
  try {
    const result = await work();
    const answer = once(watcher, 'message');
    watcher.postMessage('stop');
    const [pauses] = (await answer) as [MachinePauses];
    return { result, pauses };
  } finally {
    await watcher.terminate();
  }
}
