import { mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from '../child.ts';
import { type BenchRow, median, round } from '../row.ts';
import type { Handled } from './answers.ts';
import type { LibraryProcess } from './library.ts';
import { analyze, type PartOptions, type Place, storeUrl } from './places.ts';
import { startLibrary, startReeve } from './processes.ts';

/** Handled at once by each process: the default of `reeve serve`. */
const concurrency = 8;

/** Who handles the backlog: so many processes, started by `start`. */
type Contender = {
  readonly title: string;
  readonly processes: number;
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
} satisfies Readonly<Record<string, Contender>>;
type Name = keyof typeof contenders;

/** A backlog of jobs of 1 KB over 1,000 lanes, handled by processes that do nothing with them; each end is synced. */
export async function measureThroughput({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const jobs = quick ? 1_000 : 3_000;
  const rounds = quick ? 1 : 3;
  const rates = new Map<Name, number[]>();
  for (let at = 0; at < rounds; at += 1) {
    for (const name of Object.keys(contenders) as Name[])
      rates.set(name, [...(rates.get(name) ?? []), await rateOf(contenders[name], jobs, makePlace())]);
  }
  return rowsOf(jobs, (name) => rates.get(name) ?? []);
}

function reeve(processes: number): Contender {
  return {
    title: `PostgreSQL, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
    processes,
    async start(place) {
      const databaseUrl = storeUrl(place);
      return (await startReeve({ data: place.folder, databaseUrl, role: 'worker', concurrency })).child;
    },
  };
}

function library(name: LibraryProcess['library'], isOrdered: boolean): Contender {
  return {
    title: `${name}, 4 processes, ${isOrdered ? 'order per lane' : 'no order'}`,
    processes: 4,
    start: (place) => startLibrary({ library: name, ...place, concurrency, isOrdered }),
  };
}

/** Returns the jobs per second between the first and the last one. */
async function rateOf({ title, processes, start }: Contender, jobs: number, place: Place): Promise<number> {
  await mkdir(place.folder);
  const children: Child[] = [];
  try {
    // One after the other: the first one creates the tables.
    for (let at = 0; at < processes; at += 1) children.push(await start(place));
    await children[0]?.ask({ ask: 'store', value: jobs });
    await analyze(place.url);
    await Promise.all(children.map((child) => child.ask({ ask: 'start' })));
    const ends = await untilHandled(children, jobs);
    const count = ends.reduce((sum, end) => sum + end.count, 0);
    if (count !== jobs) throw new Error(`${title}: ${count} of ${jobs} were handled`);
    const firstMs = Math.min(...ends.map((end) => end.firstMs));
    const lastMs = Math.max(...ends.map((end) => end.lastMs));
    return jobs / ((lastMs - firstMs) / 1_000);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function untilHandled(children: readonly Child[], jobs: number): Promise<readonly Handled[]> {
  let last = -1;
  for (let idleMs = 0; idleMs < 60_000; idleMs += 50) {
    const handled = await Promise.all(children.map((child) => child.ask<Handled>({ ask: 'handled' })));
    const count = handled.reduce((sum, one) => sum + one.count, 0);
    if (count >= jobs) return handled.filter((one) => one.count > 0);
    if (count > last) idleMs = 0;
    last = count;
    await pause(50);
  }
  throw new Error(`${last} of ${jobs} were handled, and no more for a minute`);
}

function rowsOf(jobs: number, of: (name: Name) => readonly number[]): readonly BenchRow[] {
  const row = (name: Name, other: Name, target?: number): BenchRow => {
    // Round by round: neighbours in time share the noise.
    const ratio = median(of(name).map((rate, at) => rate / (of(other)[at] ?? Number.NaN)));
    return {
      name: `backlog of ${jobs.toLocaleString('en')} handled, ${contenders[name].title}`,
      value: Math.round(median(of(name))),
      unit: 'deliveries/s',
      against: `${contenders[other].title}: ${Math.round(median(of(other)))}/s`,
      ratio: round(ratio),
      target: target === undefined ? '–' : `>= ${target} x`,
      ok: ratio >= (target ?? 0),
    };
  };
  return [
    row('one', 'sqlite', 0.1),
    row('two', 'one', 1.2),
    row('four', 'one', 1.2),
    row('four', 'bossOrdered', 1),
    row('four', 'boss'),
    row('four', 'graphileOrdered', 1),
    row('four', 'graphile'),
  ];
}
