import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { WorkersReport } from './crash/attempts.ts';
import { crash, type StoreKind } from './crash/crash-servers.ts';
import { crashWorkersFor } from './crash/crash-workers.ts';
import { crashQueue, type QueueCrashReport } from './crash/queue/crash-queue.ts';
import { percentile } from './harness/sender.ts';

/**
 * `npm run crash -- --kills N [--store sqlite|postgres] [--twin ack-first]`: kills receiving servers N times and prints
 * how many deliveries were acknowledged, how many of them were lost, and how many were handled at the wrong time or
 * twice.
 *
 * `npm run crash -- --store postgres --minutes M`: runs four worker processes, of which one is killed every two seconds
 * and one stands still for longer than its lease, while the database is restarted once.
 *
 * `npm run crash -- --queue --store postgres --kills N [--seed S]`: runs two `reeve serve` processes with one merge
 * queue, an embedded forge and CI; pull requests are opened continuously.
 *
 * Exit 1 when a delivery was lost, out of order, handled twice at the same time or settled twice, or the store was
 * damaged; or when a pull request was merged twice or untested, or was merged or refused although its contents require
 * the opposite.
 */
const usage = `usage: crash --kills N [--store sqlite|postgres] [--twin ack-first]
       crash --store postgres --minutes M
       crash --queue --store postgres --kills N [--seed S]`;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '100' },
      store: { type: 'string', default: 'sqlite' },
      minutes: { type: 'string' },
      twin: { type: 'string', default: '' },
      queue: { type: 'boolean', default: false },
      seed: { type: 'string' },
    },
  });
  const kills = Number(values.kills);
  const minutes = Number(values.minutes ?? 1);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  const isKnown = ['sqlite', 'postgres'].includes(values.store) && ['', 'ack-first'].includes(values.twin);
  const isTimed = values.minutes !== undefined;
  if (!isKnown || !Number.isSafeInteger(kills) || kills < 1 || !(minutes > 0 && minutes <= 1_440))
    throw new Error(usage);
  if ((isTimed || values.queue) && values.store !== 'postgres') throw new Error(usage);
  if (values.queue && (isTimed || values.twin !== '' || !Number.isSafeInteger(seed))) throw new Error(usage);
  if (values.queue) return crashQueueByKills(kills, seed);
  return isTimed ? crashForMinutes(minutes) : crashByKills(kills, values.store as StoreKind, values.twin);
}

async function crashByKills(kills: number, store: StoreKind, twin: string): Promise<boolean> {
  const { isIntact, ...report } = await crash({
    kills,
    store,
    twin,
    onKill: (done, acked, lost) => {
      if (done % 50 === 0) console.error(`${done} of ${kills} kills: acked ${acked}, lost ${lost}`);
    },
  });
  console.log(`acked ${report.acked}, lost ${report.lost}`);
  if (!isIntact) console.error('the database is damaged');
  return print(report) && isIntact;
}

async function crashForMinutes(minutes: number): Promise<boolean> {
  const server = await startPostgres();
  try {
    const report = await crashWorkersFor({
      url: server.url,
      seconds: minutes * 60,
      killEveryMs: 2_000,
      restart: server.restart,
    });
    console.log(`accepted ${report.accepted}, lost ${report.lost}`);
    const isGood = print(report);
    console.log(`kills ${report.kills}, attempts taken from processes that were alive ${report.taken}`);
    return isGood && report.repeats <= report.kills;
  } finally {
    await server.stop();
  }
}

async function crashQueueByKills(kills: number, seed: number): Promise<boolean> {
  console.log(`seed ${seed}`);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const server = await startPostgres();
  try {
    const report = await crashQueue({
      databaseUrl: server.url,
      kills,
      stops: Math.floor(kills / 20),
      gapMs: 1_500,
      seed,
      signal: stopping.signal,
      onKill: (done) => {
        if (done % 10 === 0) console.error(`${done} of ${kills} kills`);
      },
      onWrong: (finding) => console.error(finding),
    });
    return printQueue(report);
  } finally {
    await server.stop();
  }
}

/** Prints the report. Returns whether the run had no errors. */
function printQueue(report: QueueCrashReport): boolean {
  const { pulls, merged, failed, conflicting, repeated, requests } = report;
  const { mergedTwice, untested, brokenBases, lost, wrong, misreported, comments } = report;
  console.log(`kills ${report.kills}, processes that stood still ${report.stops}`);
  console.log(
    `pull requests ${pulls}: merged ${merged}, left ${failed} by a failed check, ${conflicting} by a conflict`,
  );
  console.log(
    `merged twice ${mergedTwice}, untested ${untested}, commits of the base that fail ${brokenBases}`,
  );
  console.log(`lost ${lost}, wrong end ${wrong}, wrong history ${misreported}, further comments ${comments}`);
  console.log(`requests to merge ${requests}, statuses that repeat the one before ${repeated}`);
  const all = [mergedTwice, untested, brokenBases, lost, wrong, misreported, comments];
  return merged > 0 && all.every((count) => count === 0);
}

/** Prints the report. Returns whether the run had no errors. */
function print(report: WorkersReport): boolean {
  const { lost, overlaps, outOfOrder, doubles, repeats, attempts, takeoverMs } = report;
  const secondsOf = (share: number): string => ((percentile(takeoverMs, share) || 0) / 1_000).toFixed(1);
  console.log(`overlaps ${overlaps}, out of order ${outOfOrder}, settled twice ${doubles}`);
  console.log(`attempts ${attempts}, complete attempts that were repeated ${repeats}`);
  console.log(`takeovers ${takeoverMs.length}: p50 ${secondsOf(0.5)} s, max ${secondsOf(1)} s`);
  return lost + overlaps + outOfOrder + doubles === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
