import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { operations } from '../../src/contract/operations.ts';
import type { Issue } from '../../src/contract/resources/issues.ts';
import { openStoreAt } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { builtProgram } from '../../test/support/built-program.ts';
import type { Fault } from '../../test/support/fault-proxy.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { endProcesses } from '../../test/support/processes.ts';
import { openBook, type ReadRows } from '../harness/book.ts';
import { readRows } from '../harness/database.ts';
import {
  at,
  type Installation,
  type ProxiedInstallation,
  startProxiedInstallation,
} from '../harness/installation.ts';
import { createLoad, type Load, type LoadTarget } from '../harness/load.ts';
import { canReadMemory, mappedBytes } from '../harness/process-memory.ts';
import { untilDone } from '../harness/progress.ts';
import { authorization, secret } from '../harness/sender.ts';
import {
  descriptorsOf,
  oldestAllowedDays,
  retentionDays,
  type Sample,
  type SoakRecord,
  sizesOf,
} from './judge.ts';
import type { ProbeQuestion, ProbeSample } from './probe.ts';

export type SoakOptions = {
  readonly store: 'sqlite' | 'postgres';
  readonly seconds: number;
  /** Number of acknowledged deliveries that ends the run. */
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
/** Minimum time between two edits. */
const editEveryMs = 500;
/**
 * Each issue is edited again after 130 s at the earliest, because a label that goes back and forth five times in ten
 * minutes is left alone.
 */
const issueCount = 130_000 / editEveryMs;
const dayMs = 86_400_000;
/** Interval of returning free pages, which blocks the process for 0.16 s. */
const returnEveryMs = 60_000;
/** Share of the capacity that is used. */
const utilization = 0.6;
/** Time without progress after which the rest counts as lost; a failed delivery is retried after a minute at most. */
const stuckMs = 240_000;
/** Unused connections to the forge end after 4 s. */
const connectionsMs = 6_000;

/**
 * Runs `reeve serve` under load and faults: deliveries of all kinds at three fifths of its capacity, edits on an
 * embedded forge that fails, is slow and is restarted, and a clock that moves 40 days ahead. A store in PostgreSQL has
 * the clock of its server, which stays as it is. Returns the measurements.
 */
export async function runSoak(options: SoakOptions): Promise<SoakRecord> {
  const place = options.store === 'postgres' ? await openDatabase() : undefined;
  try {
    const installation = await startProxiedInstallation({
      ...{ rules, settings, labels: sizes },
      hasChannel: true,
      nodeArgs: ['--expose-gc', '--import', builtProgram('soak-probe')],
      environment: place ? { DATABASE_URL: place.databaseUrl } : {},
    });
    try {
      const at = { data: installation.data, databaseUrl: place?.databaseUrl };
      const store = await openStoreAt(at, { role: 'reader' });
      try {
        return await soak({ installation, store, ...(place ?? readFile(installation)) }, options);
      } finally {
        await store.close();
      }
    } finally {
      await installation.close();
      await endProcesses();
    }
  } finally {
    await place?.close();
  }
}

/** What is read of a store beside the store. */
type Database = {
  readonly readRows: ReadRows;
  /** Size in bytes of the database, and of its write-ahead log if that is its own. */
  readonly sizes: () => Promise<Pick<Sample, 'databaseBytes' | 'logBytes'>>;
  /** Days by which the clock of the store is moved. */
  readonly daysAhead: number;
};

function readFile({ data, database }: Installation): Database {
  return {
    readRows: (sql) => readRows(database, sql),
    sizes: async () => sizesOf(data),
    daysAhead: 4 * retentionDays,
  };
}

/** Starts a PostgreSQL server. */
async function openDatabase() {
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url, options: '-c search_path=reeve' });
  await client.connect();
  const read = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await client.query(sql)).rows;
  return {
    databaseUrl: server.url,
    readRows: read,
    async sizes() {
      const [row] = await read('SELECT pg_database_size(current_database()) AS bytes');
      return { databaseBytes: Number(row?.bytes), logBytes: 0 };
    },
    daysAhead: 0,
    async close() {
      await client.end();
      await server.stop();
    },
  };
}

async function soak(
  {
    installation,
    store,
    ...database
  }: { readonly installation: ProxiedInstallation; readonly store: Store } & Database,
  options: SoakOptions,
): Promise<SoakRecord> {
  const { seconds, deliveries = Number.POSITIVE_INFINITY, signal } = options;
  const { daysAhead } = database;
  const waiting = async (): Promise<number> => {
    const { accepted, claimed, retry, deferred } = await store.counts();
    return accepted + claimed + retry + deferred;
  };
  const book = openBook(database.readRows, oldestAllowedDays);
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
    const due = (Math.min(Math.floor(elapsed() * (steps + 1)), steps) * daysAhead) / Math.max(steps, 1);
    // Looks for deliveries before the next day may delete them.
    if (due > days) await book.look();
    days = due;
    const atMs = performance.now() - startMs;
    const returnsPages = atMs >= nextReturnMs;
    if (returnsPages) nextReturnMs = atMs + Math.min(seconds * 60, returnEveryMs);
    const sample = await sampleOf(installation, { aheadMs: days * dayMs, returnsPages, signal });
    samples.push({ ...sample, ...(await database.sizes()), atMs, waiting: await waiting() });
    options.onSample?.(samples.at(-1) as Sample, book.acknowledged());
    // Tests read the list of passed requests; here it would grow without limit.
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
  // If the machine got busier since its capacity was measured, many deliveries may wait.
  await drained(waiting);
  const judged = await edits.judge();
  await book.look();
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
    oldestDays: daysAhead === 0 ? 0 : await book.oldestDays(days),
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
  onAnswer: LoadTarget['onAnswer'],
): Promise<Load> {
  const { id, full_name, owner } = await root.call(operations.getRepository, { params: at });
  const repository = { id, full_name: full_name ?? '', owner: owner ?? {} };
  return createLoad({ url, authorization, secret, tooLargeBytes, repository, issues, onAnswer });
}

/** Returns how many deliveries per second are handled while more wait. */
async function measureCapacity(load: Load, waiting: () => Promise<number>, seconds: number): Promise<number> {
  const startMs = performance.now();
  const isOver = (): boolean => performance.now() - startMs > seconds * 1_000;
  const accepted = await load.sendFast(16, isOver);
  await drained(waiting);
  return accepted / ((performance.now() - startMs) / 1_000);
}

/**
 * Waits until no delivery waits. Also returns if their number has not changed for a long time; the rest is then
 * counted.
 */
function drained(waiting: () => Promise<number>): Promise<number> {
  return untilDone(waiting, { stuckMs, everyMs: 100 });
}

async function sampleOf(
  { reeve }: ProxiedInstallation,
  options: { readonly aheadMs: number; readonly returnsPages: boolean; readonly signal: AbortSignal },
): Promise<Omit<Sample, 'atMs' | 'waiting' | 'databaseBytes' | 'logBytes'>> {
  const { aheadMs, returnsPages, signal } = options;
  const child = reeve();
  const ended = new AbortController();
  const stop = (status: unknown): void => ended.abort(new Error(`reeve serve ended with ${status}`));
  child.once('exit', stop);
  const ask = async (question: ProbeQuestion): Promise<ProbeSample> => {
    // Listens before sending: if the process has ended, sending causes the error that is thrown here.
    const answer = once(child, 'message', { signal: AbortSignal.any([ended.signal, signal]) });
    child.send(question);
    return (await answer)[0] as ProbeSample;
  };
  const sample = {
    ...(await ask({ aheadMs })),
    mappedBytes: canReadMemory ? mappedBytes(child.pid ?? 0) : 0,
    descriptors: descriptorsOf(child.pid)?.length ?? 0,
  };
  const used = returnsPages ? await ask('returnFreePages') : undefined;
  child.off('exit', stop);
  return { ...sample, used };
}

/**
 * Returns the descriptors of the process when it is idle and its connections have ended: at most `most`, if that is
 * reached.
 */
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

/** Consecutive edits of issues, each of which changes a label. */
interface Edits {
  /** Resolves after the last edit. */
  readonly done: Promise<void>;
  /** Waits until every issue has the label of its title, or until nothing happens any more. */
  judge(): Promise<{
    readonly edits: number;
    readonly wrong: number;
    readonly effectMs: readonly number[];
  }>;
}

type EditsOptions = {
  /** Labels; the last word of a label is in the title of the issues that have it. */
  readonly sizes: readonly string[];
  readonly issues: readonly { readonly number: number }[];
  readonly isOver: () => boolean;
  /** Time after which an edit without an effect counts as lost. */
  readonly stuckMs: number;
};

/** Time between two reads of the labels of an issue. */
const lookEveryMs = 100;

/** Edits the issues in turn until `isOver`, and measures the time until each effect. */
function startEdits({ root }: Installation, { sizes, issues, isOver, stuckMs }: EditsOptions): Edits {
  const wanted = new Map<number, string>();
  const effectMs: number[] = [];
  let edits = 0;
  const isLabelled = async (index: number): Promise<boolean> => {
    const labels = await root.call(operations.listIssueLabels, { params: { ...at, index } });
    return labels.map(({ name }) => name).join() === wanted.get(index);
  };

  const editOne = async (index: number): Promise<void> => {
    const size = sizes[(edits + Math.floor(edits / issues.length)) % sizes.length] ?? '';
    const title = `A ${size.split('/').at(-1)} change, ${edits}`;
    await root.call(operations.editIssue, { params: { ...at, index }, body: { title } });
    wanted.set(index, size);
    edits += 1;
    const startMs = performance.now();
    while (!isOver()) {
      if (await isLabelled(index)) {
        effectMs.push(performance.now() - startMs);
        return;
      }
      await pause(lookEveryMs);
    }
  };
  const done = (async () => {
    for (let turn = 0; !isOver(); turn += 1) {
      const { number } = issues[turn % issues.length] ?? { number: 1 };
      // The forge may be down; the edit, or the measurement of its effect, is then given up, and the next edit follows.
      await editOne(number).catch(() => undefined);
      await pause(editEveryMs);
    }
  })();
  return {
    done,
    async judge() {
      const endMs = performance.now() + stuckMs;
      let wrong = [...wanted.keys()];
      for (;;) {
        const left: number[] = [];
        for (const index of wrong) if (!(await isLabelled(index))) left.push(index);
        wrong = left;
        if (wrong.length === 0 || performance.now() > endMs) break;
        await pause(lookEveryMs);
      }
      return { edits, wrong: wrong.length, effectMs };
    },
  };
}

interface Faults {
  /** Resolves after the last fault. */
  readonly done: Promise<void>;
  restarts(): number;
}

/**
 * Faults by their position in a cycle; there is no fault in the rest of a cycle. `of10`: number of requests out of ten
 * that are affected.
 */
const phases: readonly { from: number; to: number; of10: number; fault: Fault }[] = [
  { from: 0.35, to: 0.45, of10: 1, fault: { kind: 'answer', status: 500, body: '{"message":"oops"}' } },
  { from: 0.45, to: 0.55, of10: 10, fault: { kind: 'pass', before: () => pause(300) } },
  { from: 0.55, to: 0.6, of10: 1, fault: { kind: 'reset' } },
  { from: 0.6, to: 0.65, of10: 1, fault: { kind: 'lose' } },
];
const restartAt = 0.7;
const awayMs = 1_000;

/** Makes the forge fail in each cycle: errors, slow responses, broken connections, lost responses, and a restart. */
function causeFaults(
  { proxy, restartForge }: ProxiedInstallation,
  { cycleMs, isOver }: { readonly cycleMs: number; readonly isOver: () => boolean },
): Faults {
  const startMs = performance.now();
  const position = (): number => ((performance.now() - startMs) / cycleMs) % 1;
  let [requests, restarts] = [0, 0];
  proxy.decide = () => {
    requests += 1;
    const at = position();
    const phase = phases.find(({ from, to }) => at >= from && at < to);
    return phase !== undefined && requests % 10 < phase.of10 && !isOver() ? phase.fault : { kind: 'pass' };
  };
  const done = (async () => {
    let cycle = -1;
    while (!isOver()) {
      await pause(50);
      const now = Math.floor((performance.now() - startMs) / cycleMs);
      if (position() < restartAt || now === cycle) continue;
      cycle = now;
      await restartForge(awayMs);
      restarts += 1;
    }
  })();
  return { done, restarts: () => restarts };
}
