import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { operations } from '../../src/contract/operations.ts';
import type { Issue } from '../../src/contract/resources/issues.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { builtProgram } from '../../test/support/built-program.ts';
import { endProcesses } from '../../test/support/processes.ts';
import { authorization, secret } from '../installation/credentials.ts';
import { at } from '../installation/forge.ts';
import { canReadMemory, mappedBytes } from '../installation/process-memory.ts';
import { type ProxiedInstallation, startProxiedInstallation } from '../installation/proxied-installation.ts';
import { openBook } from './book.ts';
import { editEveryMs, startEdits } from './edits.ts';
import { causeFaults } from './faults.ts';
import { oldestAllowedDays, retentionDays, type SoakRecord } from './judge.ts';
import { createLoad, type Load } from './load.ts';
import type { ProbeQuestion, ProbeSample } from './probe.ts';
import { descriptorsOf, type Sample, sizesOf } from './samples.ts';

export type SoakOptions = {
  readonly seconds: number;
  /** Ends it when so many deliveries were acknowledged. */
  readonly deliveries?: number | undefined;
  readonly signal: AbortSignal;
  readonly onSample?: (sample: Sample, acknowledged: number) => void;
};

const sizes = ['size/small', 'size/large'] as const;
const rules = `version: 1
rules:
  by-title:
    on: { issues: [opened, edited] }
    steps:
      - uses: set-labels
        with:
          sync:
            ${sizes[0]}: issue.title.contains("small")
            ${sizes[1]}: issue.title.contains("large")
`;
const settings = `limits: { hour: 100000, repository-hour: 100000 }
retention: { settled: ${retentionDays}d }
max-body: 256KiB
`;
const tooLargeBytes = 300 * 1_024;
/** Each is edited again after 130 s at the earliest: a label that goes back and forth five times in ten minutes is left alone. */
const issueCount = 130_000 / editEveryMs;
/** The clock of the process goes ahead by so much in the whole, in steps. */
const daysAhead = 4 * retentionDays;
const dayMs = 86_400_000;
/** It holds up the process for 0.16 s. */
const returnEveryMs = 60_000;
/** The part of the capacity that is used. */
const utilization = 0.6;
/** Without progress for so long, what is left is lost: a delivery that failed is tried again after a minute at most. */
const stuckMs = 240_000;
/** Connections to the forge that are not used end after 4 s. */
const connectionsMs = 6_000;

/**
 * Runs `reeve serve` under load and faults: deliveries of all kinds at three fifths of what it can do, edits on an embedded forge that
 * fails, is slow and is restarted, and a clock that goes 40 days ahead. Returns what was measured.
 */
export async function runSoak(options: SoakOptions): Promise<SoakRecord> {
  const installation = await startProxiedInstallation({
    ...{ rules, settings, labels: sizes },
    hasChannel: true,
    nodeArgs: ['--expose-gc', '--import', builtProgram('soak-probe')],
  });
  try {
    const path = join(installation.data, 'reeve.db');
    const store = await openSqliteStore({ path, role: 'reader' });
    try {
      return await soak(installation, store, options);
    } finally {
      await store.close();
    }
  } finally {
    await installation.close();
    await endProcesses();
  }
}

async function soak(
  installation: ProxiedInstallation,
  store: Store,
  options: SoakOptions,
): Promise<SoakRecord> {
  const { seconds, deliveries = Number.POSITIVE_INFINITY, signal } = options;
  const { data } = installation;
  const waiting = async (): Promise<number> => {
    const { accepted, claimed, retry, deferred } = await store.counts();
    return accepted + claimed + retry + deferred;
  };
  const book = openBook(join(data, 'reeve.db'), oldestAllowedDays);
  const issues = await openIssues(installation);
  const load = await prepareLoad(installation, issues, book.note);
  const capacity = await measureCapacity(load, waiting, Math.min(seconds / 6, 20));
  const atRest = await restingDescriptors(installation, waiting);

  const samples: Sample[] = [];
  const startMs = performance.now();
  const elapsed = (): number => (performance.now() - startMs) / (seconds * 1_000);
  const isOver = (): boolean => signal.aborted || elapsed() >= 1 || book.acknowledged() >= deliveries;
  const steps = Math.min(Math.max(Math.floor(seconds / 2), daysAhead / 2), daysAhead);
  let days = 0;
  let nextReturnMs = 0;
  const takeSample = async (): Promise<void> => {
    const due = (Math.min(Math.floor(elapsed() * (steps + 1)), steps) * daysAhead) / steps;
    // What the next day may delete is looked for before.
    if (due > days) book.look();
    days = due;
    const atMs = performance.now() - startMs;
    const returnsPages = atMs >= nextReturnMs;
    if (returnsPages) nextReturnMs = atMs + Math.min(seconds * 60, returnEveryMs);
    const sample = await sampleOf(installation, { aheadMs: days * dayMs, returnsPages, signal });
    samples.push({ ...sample, atMs, waiting: await waiting() });
    options.onSample?.(samples.at(-1) as Sample, book.acknowledged());
    // Tests read what has passed; here it would grow without end.
    installation.proxy.passed.length = 0;
  };
  const edits = startEdits(installation, { sizes, issues, isOver, stuckMs });
  const faults = causeFaults(installation, { cycleMs: Math.min(seconds * 500, 60_000), isOver });
  const sampling = (async () => {
    while (!isOver()) {
      await takeSample();
      await pause(Math.min(Math.max((seconds * 1_000) / 200, 500), 5_000));
    }
  })();
  await Promise.all([load.sendAt(capacity * utilization, isOver), edits.done, faults.done, sampling]);
  signal.throwIfAborted();
  const minutes = (performance.now() - startMs) / 60_000;
  // On a machine that got busier since its capacity was measured, many may wait.
  await drained(waiting);
  const judged = await edits.judge();
  book.look();
  const { lost, unexpected, answers } = book;
  return {
    ...{ minutes, samples, days, ...judged, lost: lost(), unexpected: [...unexpected], answers },
    acknowledged: book.acknowledged(),
    perSecond: book.acknowledged() / (minutes * 60),
    unfinished: await waiting(),
    dead: (await store.counts()).dead,
    restarts: faults.restarts(),
    descriptors: atRest && [
      atRest.length,
      (await restingDescriptors(installation, waiting, atRest.length))?.length ?? 0,
    ],
    oldestDays: await book.oldestDays(days),
  };
}

async function openIssues({ root }: ProxiedInstallation): Promise<readonly Issue[]> {
  const opened: Issue[] = [];
  while (opened.length < issueCount) {
    const body = { title: `A small change, ${opened.length}` };
    opened.push(await root.call(operations.createIssue, { params: at, body }));
  }
  return opened;
}

async function prepareLoad(
  { root, url }: ProxiedInstallation,
  issues: readonly Issue[],
  onAnswer: Parameters<typeof createLoad>[0]['onAnswer'],
): Promise<Load> {
  const { id, full_name, owner } = await root.call(operations.getRepository, { params: at });
  const repository = { id, full_name: full_name ?? '', owner: owner ?? {} };
  return createLoad({ url, authorization, secret, tooLargeBytes, repository, issues, onAnswer });
}

/** Returns how many deliveries a second are handled while more wait. */
async function measureCapacity(load: Load, waiting: () => Promise<number>, seconds: number): Promise<number> {
  const startMs = performance.now();
  const isOver = (): boolean => performance.now() - startMs > seconds * 1_000;
  const accepted = await load.sendFast(16, isOver);
  await drained(waiting);
  return accepted / ((performance.now() - startMs) / 1_000);
}

/** Waits until no delivery waits. Returns when their number has not changed for long, too: what is left is counted. */
async function drained(waiting: () => Promise<number>): Promise<void> {
  let [left, sinceMs] = [await waiting(), performance.now()];
  while (left > 0 && performance.now() - sinceMs < stuckMs) {
    await pause(100);
    const now = await waiting();
    if (now !== left) [left, sinceMs] = [now, performance.now()];
  }
}

async function sampleOf(
  { reeve, data }: ProxiedInstallation,
  options: { readonly aheadMs: number; readonly returnsPages: boolean; readonly signal: AbortSignal },
): Promise<Omit<Sample, 'atMs' | 'waiting'>> {
  const { aheadMs, returnsPages, signal } = options;
  const child = reeve();
  const ended = new AbortController();
  const stop = (status: unknown): void => ended.abort(new Error(`reeve serve ended with ${status}`));
  child.once('exit', stop);
  const ask = async (question: ProbeQuestion): Promise<ProbeSample> => {
    // One that has ended takes no message: the error of that is the one that is thrown.
    const answer = once(child, 'message', { signal: AbortSignal.any([ended.signal, signal]) });
    child.send(question);
    return (await answer)[0] as ProbeSample;
  };
  const sample = {
    ...(await ask({ aheadMs })),
    mappedBytes: canReadMemory ? mappedBytes(child.pid ?? 0) : 0,
    descriptors: descriptorsOf(child.pid)?.length ?? 0,
    ...sizesOf(data),
  };
  const used = returnsPages ? await ask('returnFreePages') : undefined;
  child.off('exit', stop);
  return { ...sample, used };
}

/** Returns the descriptors of the process when it has nothing to do and its connections have ended: `most` or fewer, if it gets there. */
async function restingDescriptors(
  { reeve }: ProxiedInstallation,
  waiting: () => Promise<number>,
  most = 0,
): Promise<readonly string[] | undefined> {
  await drained(waiting);
  let least = descriptorsOf(reeve().pid);
  let sinceMs = performance.now();
  while (least !== undefined && least.length > most && performance.now() - sinceMs < connectionsMs) {
    await pause(200);
    const now = descriptorsOf(reeve().pid);
    if (now !== undefined && now.length < least.length) [least, sinceMs] = [now, performance.now()];
  }
  return least;
}
