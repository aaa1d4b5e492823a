import { mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from '../child.ts';
import { type BenchRow, median, round } from '../row.ts';
import type { Handled } from './answers.ts';
import type { LibraryProcess } from './library.ts';
import { analyze, type PartOptions, type Place, storeUrl } from './places.ts';
import { startLibrary, startReeve } from './processes.ts';
import { openProcessorTime } from './processor-time.ts';

/** Handled at once by each process: the default of `reeve serve`. */
const concurrency = 8;
/** What a handler waits for a forge that is as far away as in the section sweeps. */
const handlerMs = 50;
/**
 * The sizes of the backlogs: of handlers that do nothing, and of those that wait. Each process compiles its code first: a short
 * backlog would measure that four times with four processes.
 */
const sizes = { quick: { jobs: 1_000, waiting: 400 }, full: { jobs: 12_000, waiting: 2_000 } };

/** Who handles the backlog: so many processes, started by `start`. */
type Contender = {
  readonly title: string;
  readonly processes: number;
  /** Whether its handlers wait. */
  readonly waits?: true;
  readonly start: (place: Place) => Promise<Child>;
};

const contenders = {
  sqlite: {
    title: 'SQLite, 1 process',
    processes: 1,
    start: async ({ folder: data }) => (await startReeve({ data, role: 'worker', concurrency })).child,
  },
  one: reeve(1),
  two: reeve(2),
  four: reeve(4),
  bossOrdered: library('pg-boss', true),
  boss: library('pg-boss', false),
  graphileOrdered: library('graphile-worker', true),
  graphile: library('graphile-worker', false),
  oneWaits: waiting(1),
  twoWait: waiting(2),
  fourWait: waiting(4),
} satisfies Readonly<Record<string, Contender>>;
type Name = keyof typeof contenders;

/** What one contender did with its backlog. */
type Result = {
  readonly jobs: number;
  /** Jobs per second between the first and the last one. */
  readonly rate: number;
  /** Processor time of the server and all processes for each job, in microseconds. */
  readonly processorUs: number;
};

/**
 * A backlog of jobs of 1 KB over 1,000 lanes, handled by processes that do nothing with them, and by processes that wait for a
 * forge; each end is synced.
 */
export async function measureThroughput({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const rounds = quick ? 1 : 3;
  const results = new Map<Name, Result[]>();
  for (let at = 0; at < rounds; at += 1) {
    for (const name of Object.keys(contenders) as Name[]) {
      const contender: Contender = contenders[name];
      const size = sizes[quick ? 'quick' : 'full'];
      const jobs = contender.waits ? size.waiting : size.jobs;
      results.set(name, [...(results.get(name) ?? []), await handleBacklog(contender, jobs, makePlace())]);
    }
  }
  return rowsOf((name) => results.get(name) ?? []);
}

function reeve(processes: number, waits: Pick<Contender, 'waits'> = {}): Contender {
  return {
    title: `PostgreSQL, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
    processes,
    ...waits,
    async start(place) {
      const databaseUrl = storeUrl(place);
      const options = { data: place.folder, databaseUrl, role: 'worker', concurrency } as const;
      return (await startReeve({ ...options, ...(waits.waits && { handlerMs }) })).child;
    },
  };
}

function waiting(processes: number): Contender {
  return reeve(processes, { waits: true });
}

function library(name: LibraryProcess['library'], isOrdered: boolean): Contender {
  return {
    title: `${name}, 4 processes, ${isOrdered ? 'order per lane' : 'no order'}`,
    processes: 4,
    start: (place) => startLibrary({ library: name, ...place, concurrency, isOrdered }),
  };
}

async function handleBacklog(
  { title, processes, start }: Contender,
  jobs: number,
  place: Place,
): Promise<Result> {
  await mkdir(place.folder);
  const children: Child[] = [];
  try {
    // One after the other: the first one creates the tables.
    for (let at = 0; at < processes; at += 1) children.push(await start(place));
    await children[0]?.ask({ ask: 'store', value: jobs });
    await analyze(place.url);
    const serverMs = await openProcessorTime(place.url);
    const before = { server: serverMs(), processes: processorMsOf(await handledBy(children)) };
    await Promise.all(children.map((child) => child.ask({ ask: 'start' })));
    const ends = await untilHandled(children, jobs);
    const usedMs = serverMs() - before.server + processorMsOf(ends) - before.processes;
    const count = ends.reduce((sum, end) => sum + end.count, 0);
    if (count !== jobs) throw new Error(`${title}: ${count} of ${jobs} were handled`);
    const active = ends.filter((end) => end.count > 0);
    const firstMs = Math.min(...active.map((end) => end.firstMs));
    const lastMs = Math.max(...active.map((end) => end.lastMs));
    return { jobs, rate: jobs / ((lastMs - firstMs) / 1_000), processorUs: (usedMs / jobs) * 1_000 };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

function handledBy(children: readonly Child[]): Promise<readonly Handled[]> {
  return Promise.all(children.map((child) => child.ask<Handled>({ ask: 'handled' })));
}

function processorMsOf(handled: readonly Handled[]): number {
  return handled.reduce((sum, { processorMs }) => sum + processorMs, 0);
}

async function untilHandled(children: readonly Child[], jobs: number): Promise<readonly Handled[]> {
  let last = -1;
  for (let idleMs = 0; idleMs < 60_000; idleMs += 50) {
    const handled = await handledBy(children);
    const count = handled.reduce((sum, one) => sum + one.count, 0);
    if (count >= jobs) return handled;
    if (count > last) idleMs = 0;
    last = count;
    await pause(50);
  }
  throw new Error(`${last} of ${jobs} were handled, and no more for a minute`);
}

function rowsOf(of: (name: Name) => readonly Result[]): readonly BenchRow[] {
  const backlogOf = (name: Name): string => `backlog of ${(of(name)[0]?.jobs ?? 0).toLocaleString('en')}`;
  // Round by round: neighbours in time share the noise.
  const ratioOf = (name: Name, other: Name, what: 'rate' | 'processorUs'): number =>
    median(of(name).map((result, at) => result[what] / (of(other)[at]?.[what] ?? Number.NaN)));
  const medianOf = (name: Name, what: 'rate' | 'processorUs'): number =>
    Math.round(median(of(name).map((result) => result[what])));
  const rate = (name: Name, other: Name, target?: number): BenchRow => {
    const ratio = ratioOf(name, other, 'rate');
    const waits = (contenders[name] as Contender).waits ? `, handlers wait ${handlerMs} ms` : '';
    return {
      name: `${backlogOf(name)} handled${waits}, ${contenders[name].title}`,
      value: medianOf(name, 'rate'),
      unit: 'deliveries/s',
      against: `${contenders[other].title}: ${medianOf(other, 'rate')}/s`,
      ratio: round(ratio),
      target: target === undefined ? '–' : `>= ${target} x`,
      ok: ratio >= (target ?? 0),
    };
  };
  const processor = (other: Name, target?: number): BenchRow => {
    const ratio = ratioOf('four', other, 'processorUs');
    return {
      name: `${backlogOf('four')} handled, processor time of server and processes for each, ${contenders.four.title}`,
      value: medianOf('four', 'processorUs'),
      unit: 'us',
      against: `${contenders[other].title}: ${medianOf(other, 'processorUs')} us`,
      ratio: round(ratio),
      target: target === undefined ? '–' : `<= ${target} x`,
      ok: target === undefined || ratio <= target,
    };
  };
  return [
    rate('one', 'sqlite', 0.1),
    rate('two', 'one', 1),
    rate('four', 'one'),
    // More processes than cores must not get into each other's way.
    rate('four', 'two', 0.75),
    rate('twoWait', 'oneWaits', 1.8),
    rate('fourWait', 'oneWaits', 3),
    rate('four', 'bossOrdered', 1),
    rate('four', 'boss'),
    rate('four', 'graphileOrdered'),
    rate('four', 'graphile'),
    processor('bossOrdered', 1),
    processor('graphileOrdered'),
  ];
}
