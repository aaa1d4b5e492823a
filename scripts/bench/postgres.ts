import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { nowMs } from '../harness/progress.ts';
import { createSender, percentile, type Sender } from '../harness/sender.ts';
import type { LibraryProcess } from './children/postgres-library.ts';
import type { ReeveProcess } from './children/postgres-reeve.ts';
import { makeRequest } from './deliveries.ts';
import { intakeRow, loadInTurns, p99Of, requireStored, startIntake } from './intake.ts';
import { type Child, type Handled, startChild } from './process.ts';
import {
  type BenchRow,
  benchRow,
  inTurns,
  type Measure,
  median,
  onStage,
  type Rounds,
  round,
} from './runner.ts';

/**
 * Measures the store in PostgreSQL, on a separate server that syncs. Rounds alternate with the store in a file, and
 * with pg-boss and graphile-worker on the same server.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder, defer }) => {
    const server = await startPostgres();
    defer(server.stop);
    const rows: BenchRow[] = [];
    for (const part of [measureIntake, measureClaims, measureStarts, measureThroughput]) {
      let count = 0;
      const schemas: string[] = [];
      const makePlace = (): Place => {
        count += 1;
        const schema = `${part.name.toLowerCase()}_${count}`;
        schemas.push(schema);
        return { folder: join(folder, schema), url: server.url, schema };
      };
      rows.push(...(await part({ quick, makePlace })));
      // Removes the data of this part and lets the server finish deferred writes, so that they do not slow down the
      // next part.
      for (const schema of schemas)
        await queryAt(server.url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`, 'CHECKPOINT');
    }
    return rows;
  });

/** Location of one store: a folder, or a schema of the server. */
type Place = { readonly folder: string; readonly url: string; readonly schema: string };

/** Options of each part of this benchmark. */
type PartOptions = { readonly quick: boolean; readonly makePlace: () => Place };

/** Returns the connection string of Reeve's store. */
function storeUrl({ url, schema }: Place): string {
  return `${url}&schema=${schema}`;
}

/** Executes statements over a separate connection; returns the result of the first. */
async function queryAt(url: string, first: string, ...more: readonly string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query(first);
    for (const sql of more) await client.query(sql);
    return result;
  } finally {
    await client.end();
  }
}

/** Updates the statistics of the tables, so that a measurement starts as if the server had run for hours. */
async function analyze(url: string): Promise<void> {
  await queryAt(url, 'VACUUM ANALYZE', 'CHECKPOINT');
}

/** Starts a Reeve process; also returns the port of its receiver. */
async function startReeve(options: ReeveProcess): Promise<{ child: Child; port: number }> {
  const { child, ready } = await startChild<number>('postgres-reeve', [JSON.stringify(options)]);
  return { child, port: ready };
}

/** Starts a process of another library. */
async function startLibrary(options: LibraryProcess): Promise<Child> {
  return (await startChild('postgres-library', [JSON.stringify(options)])).child;
}

/** Number of deliveries in a claim: as many as a process handles at once. */
const limit = 8;

/**
 * Measures a claim while many deliveries wait. Each claimed delivery is from a different one of 1,000 lanes, and is
 * settled before the next claim.
 */
async function measureClaims({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const waiting = quick ? 10_000 : 100_000;
  const [own, boss] = [makePlace(), makePlace()];
  await mkdir(own.folder);
  const process = { data: own.folder, role: 'worker', concurrency: limit } as const;
  const contenders = new Map<'sqlite' | 'postgres' | 'boss', Child>();
  try {
    contenders.set('sqlite', (await startReeve(process)).child);
    contenders.set('postgres', (await startReeve({ ...process, databaseUrl: storeUrl(own) })).child);
    contenders.set(
      'boss',
      await startLibrary({ library: 'pg-boss', ...boss, concurrency: limit, isOrdered: true }),
    );
    for (const [name, child] of contenders) {
      await child.ask('store', waiting);
      if (name !== 'boss') await child.ask('route');
    }
    await analyze(own.url);
    const taken = await inTurns(contenders.values(), { rounds: quick ? 4 : 10 }, (child) =>
      child.ask<readonly number[]>('claim', { times: 10, limit }),
    );
    const [sqlite = 0, postgres = 0, bossMs = 0] = [...contenders.values()].map((child) =>
      median(taken.of(child).flat()),
    );
    const beside = (title: string, ms: number, target: string): BenchRow =>
      benchRow({
        name: `PostgreSQL: claim of ${limit} with ${waiting.toLocaleString('en')} waiting`,
        value: postgres,
        unit: 'ms',
        against: `${title}: ${round(ms)} ms`,
        ratio: postgres / ms,
        target,
      });
    return [beside('SQLite', sqlite, '<= 20 ms'), beside('pg-boss, fetch, order per lane', bossMs, '<= 1 x')];
  } finally {
    for (const child of contenders.values()) await child.stop();
  }
}

/** Measures the intake of `./intake.ts` with PostgreSQL, where the server commits before the 202. */
function measureIntake({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  return onStage(async (stage) => {
    const place = makePlace();
    await mkdir(place.folder);
    const bare = await startIntake(stage, 'bare');
    const sqlite = await startIntake(stage, 'reeve', join(place.folder, 'reeve.db'));
    const postgres = await startIntake(stage, 'postgres', storeUrl(place));
    const load = quick ? { rounds: 2, perConnection: 75 } : { rounds: 5, perConnection: 150 };
    const { results, sent } = await loadInTurns(stage, [bare, sqlite, postgres], load);
    for (const server of [sqlite, postgres]) await requireStored(server, sent);
    const p99 = results.median('postgres', p99Of);
    const sqliteP99 = results.median('reeve', p99Of);
    const name = 'PostgreSQL: durable intake';
    const against = 'bare fastify that parses and stores nothing';
    return [
      intakeRow(results, ['postgres', 'bare'], { name, against, target: '>= 0.1 x' }),
      intakeRow(results, ['postgres', 'reeve'], { name, against: 'SQLite', target: '>= 0.2 x' }),
      benchRow({
        name: 'PostgreSQL: p99 latency of that intake',
        value: p99,
        unit: 'ms',
        against: `SQLite: ${round(sqliteP99)} ms`,
        ratio: p99 / sqliteP99,
        target: '<= 100 ms',
      }),
    ];
  });
}

/** Port of the receiver, process that handles the deliveries, and the times at which they were sent. */
type Handler = { readonly port: number; readonly worker: Child; readonly sentMs: Map<string, number> };

/**
 * Measures the time from the request to the start of its handler, one delivery at a time. With PostgreSQL, the handler
 * runs in a different process than the receiver; with SQLite, in the same process.
 */
async function measureStarts({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const deliveries = quick ? 60 : 300;
  const place = makePlace();
  await mkdir(place.folder);
  const options = { data: place.folder, concurrency: 8 };
  const databaseUrl = storeUrl(place);
  const children: Child[] = [];
  const start = async (more: { role: ReeveProcess['role']; databaseUrl?: string }) => {
    const started = await startReeve({ ...options, ...more });
    children.push(started.child);
    return started;
  };
  try {
    const alone = await start({ role: 'all' });
    const web = await start({ role: 'web', databaseUrl });
    const { child: worker } = await start({ role: 'worker', databaseUrl });
    const stages = new Map<'SQLite' | 'PostgreSQL', Handler>([
      ['SQLite', { port: alone.port, worker: alone.child, sentMs: new Map() }],
      ['PostgreSQL', { port: web.port, worker, sentMs: new Map() }],
    ]);
    for (const stage of stages.values()) await stage.worker.ask('start');
    const sender = createSender();
    for (let at = 0; at < deliveries + warmUp; at += 1) {
      for (const stage of stages.values()) {
        await send(stage, sender, at);
        await pause(15 + Math.random() * 10);
      }
    }
    sender.close();
    const [sqlite = [], postgres = []] = await Promise.all([...stages.values()].map(latenciesOf));
    const row = (name: string, share: number, target: string): BenchRow => {
      const [own, other] = [percentile(postgres, share), percentile(sqlite, share)];
      return benchRow({
        name: `PostgreSQL: from the request to the begin of its handler in another process, ${name}`,
        value: own,
        unit: 'ms',
        against: `SQLite, in one process: ${round(other)} ms`,
        ratio: own / other,
        target,
      });
    };
    return [row('p50', 0.5, '<= 50 ms'), row('p99', 0.99, '<= 250 ms')];
  } finally {
    for (const child of children) await child.stop();
  }
}

/** Number of deliveries that are not counted: three processes compile their code, and the server plans its statements. */
const warmUp = 100;
const repositories = 50;

async function send({ port, sentMs }: Handler, sender: Sender, at: number): Promise<void> {
  const delivery = makeRequest(1 + (at % repositories));
  sentMs.set(delivery.headers['x-gitea-delivery'] ?? '', nowMs());
  const { status, text } = await sender.send(`http://127.0.0.1:${port}/webhook`, delivery);
  if (status !== 202) throw new Error(`answered ${status} ${text}`);
}

/** Waits until all handlers have started; returns the latencies without the warm-up. */
async function latenciesOf({ worker, sentMs }: Handler): Promise<readonly number[]> {
  for (let look = 0; look < 100; look += 1) {
    const begun = new Map(await worker.ask<readonly (readonly [string, number])[]>('starts'));
    if (begun.size === sentMs.size)
      return [...sentMs].slice(warmUp).map(([uuid, ms]) => (begun.get(uuid) ?? Number.NaN) - ms);
    await pause(100);
  }
  throw new Error('deliveries were not handled within 10 s');
}

/** Number of deliveries that each process handles at once: the default of `reeve serve`. */
const concurrency = 8;
/** Time that a handler waits for a forge, with the same latency as in the section sweeps. */
const handlerMs = 50;
/**
 * Sizes of the backlogs, for handlers that do nothing and for handlers that wait. Each process first compiles its code;
 * with a short backlog, four processes would mostly measure that four times.
 */
const sizes = { quick: { jobs: 1_000, waiting: 400 }, full: { jobs: 12_000, waiting: 2_000 } };

/** Setup that handles the backlog: this many processes, each started by `start`. */
type Contender = {
  readonly title: string;
  readonly processes: number;
  /** Whether the handlers wait. */
  readonly waits?: boolean;
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
  graphileOne: library('graphile-worker', true, 1),
  bossOrdered: library('pg-boss', true, 4),
  boss: library('pg-boss', false, 4),
  graphile: library('graphile-worker', false, 4),
  oneWaits: waiting(1),
  twoWait: waiting(2),
  fourWait: waiting(4),
} satisfies Readonly<Record<string, Contender>>;
type Name = keyof typeof contenders;

/** Result of one contender. */
type Result = {
  readonly jobs: number;
  /** Jobs per second between the first and the last job. */
  readonly rate: number;
  /** Processor time per job of the server and all processes, in microseconds. */
  readonly processorUs: number;
};

/**
 * Measures a backlog of jobs of 1 KB over 1,000 lanes, for processes that do nothing with the jobs, and for processes
 * that wait for a forge. The end of each job is synced.
 */
async function measureThroughput({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const size = sizes[quick ? 'quick' : 'full'];
  const names = Object.keys(contenders) as Name[];
  const results = await inTurns(names, { rounds: quick ? 1 : 3, warmUps: 0 }, (name) => {
    const contender: Contender = contenders[name];
    return handleBacklog(contender, contender.waits ? size.waiting : size.jobs, makePlace());
  });
  return throughputRows(results);
}

function reeve(processes: number, waits = false): Contender {
  return {
    title: `PostgreSQL, ${processesText(processes)}`,
    processes,
    waits,
    async start(place) {
      const databaseUrl = storeUrl(place);
      const options = { data: place.folder, databaseUrl, role: 'worker', concurrency } as const;
      return (await startReeve({ ...options, handlerMs: waits ? handlerMs : 0 })).child;
    },
  };
}

function processesText(count: number): string {
  return `${count} ${count === 1 ? 'process' : 'processes'}`;
}

function waiting(processes: number): Contender {
  return reeve(processes, true);
}

function library(name: LibraryProcess['library'], isOrdered: boolean, processes: number): Contender {
  return {
    title: `${name}, ${processesText(processes)}, ${isOrdered ? 'order per lane' : 'no order'}`,
    processes,
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
    // Starts one after another, because the first one creates the tables.
    for (let at = 0; at < processes; at += 1) children.push(await start(place));
    await children[0]?.ask('store', jobs);
    await analyze(place.url);
    const serverMs = await openProcessorTime(place.url);
    const before = { server: serverMs(), processes: processorMsOf(await handledBy(children)) };
    await Promise.all(children.map((child) => child.ask('start')));
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
  return Promise.all(children.map((child) => child.ask<Handled>('handled')));
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

function throughputRows(results: Rounds<Name, Result>): readonly BenchRow[] {
  const rateOf = ({ rate }: Result): number => rate;
  const timeOf = ({ processorUs }: Result): number => processorUs;
  const backlogOf = (name: Name): string =>
    `backlog of ${(results.of(name)[0]?.jobs ?? 0).toLocaleString('en')}`;
  const rate = (name: Name, other: Name, target?: number): BenchRow => {
    const waits = (contenders[name] as Contender).waits ? `, handlers wait ${handlerMs} ms` : '';
    return benchRow({
      name: `${backlogOf(name)} handled${waits}, ${contenders[name].title}`,
      value: Math.round(results.median(name, rateOf)),
      unit: 'deliveries/s',
      against: `${contenders[other].title}: ${Math.round(results.median(other, rateOf))}/s`,
      ratio: results.ratio(name, other, rateOf),
      target: target === undefined ? '–' : `>= ${target} x`,
    });
  };
  const processor = (name: Name, other: Name, target?: number): BenchRow =>
    benchRow({
      name: `${backlogOf(name)} handled, processor time of server and processes for each, ${contenders[name].title}`,
      value: Math.round(results.median(name, timeOf)),
      unit: 'us',
      against: `${contenders[other].title}: ${Math.round(results.median(other, timeOf))} us`,
      ratio: results.ratio(name, other, timeOf),
      target: target === undefined ? '–' : `<= ${target} x`,
    });
  return [
    rate('one', 'sqlite', 0.1),
    rate('one', 'graphileOne', 1),
    rate('two', 'one', 1),
    rate('four', 'one'),
    // More processes than cores must not slow each other down.
    rate('four', 'two', 0.75),
    rate('twoWait', 'oneWaits', 1.8),
    rate('fourWait', 'oneWaits', 3),
    rate('four', 'bossOrdered', 1),
    rate('four', 'boss'),
    rate('four', 'graphile'),
    processor('four', 'bossOrdered', 1),
    processor('one', 'graphileOne'),
  ];
}

/**
 * Returns a function that reads the processor time, in milliseconds, of a server and all of its child processes,
 * including ended ones.
 */
async function openProcessorTime(url: string): Promise<() => number> {
  const { rows } = await queryAt(url, "SELECT pg_read_file('postmaster.pid') AS text");
  const pid = Number.parseInt(rows[0].text, 10);
  return () => timesOf(pid).all + childrenOf(pid).reduce((sum, child) => sum + timesOf(child).own, 0);
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Processor time of the process, and its sum with the time of ended child processes. */
function timesOf(pid: number): { own: number; all: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 14 to 17, in ticks of 10 ms.
    const [user = 0, system = 0, ofUser = 0, ofSystem = 0] = fields
      .slice(11, 15)
      .map((ticks) => Number(ticks) * 10);
    return { own: user + system, all: user + system + ofUser + ofSystem };
  } catch {
    // The process ended meanwhile; its parent then has its time.
    return { own: 0, all: 0 };
  }
}
