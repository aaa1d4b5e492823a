import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { type Liveness, standardLiveness } from '../../src/store/postgres/presence.ts';
import type { Store } from '../../src/store/store.ts';
import { type Network, openNetwork } from '../harness/network.ts';
import { nowMs } from '../harness/progress.ts';
import { withWorkspace } from '../harness/workspace.ts';
import {
  feed,
  insist,
  judgeAttempts,
  liveness,
  settledIn,
  untilSettled,
  type WorkersReport,
} from './attempts.ts';
import { CrashProcesses } from './processes.ts';

/** Number of concurrent workers. */
const workerCount = 4;

/** Options of a worker: the database, and how long the worker counts as alive without a heartbeat. */
export type WorkerOptions = { readonly url: string; readonly liveness: Liveness };
type Workers = CrashProcesses<WorkerOptions, 'ready'>;

type WorkersOptions = {
  /** Schema on a server with a socket. */
  readonly url: string;
  readonly deliveries: number;
  readonly kills: number;
  /** Number of times that a worker stands still for longer than the others wait for it. */
  readonly stops: number;
  /** Number of times that the network is cut for all workers. */
  readonly cuts: number;
};

type TimedOptions = {
  /** Schema on a server with a socket. */
  readonly url: string;
  readonly seconds: number;
  /** Time between two kills. */
  readonly killEveryMs: number;
  /** Stops the server in mode immediate, and starts it again. */
  restart(): Promise<void>;
};

/**
 * Runs four processes that handle deliveries from one PostgreSQL database, while they are killed, stopped and cut off
 * from it. Returns the result of the deliveries.
 */
export function crashWorkers(options: WorkersOptions): Promise<WorkersReport> {
  return withWorkers(options.url, liveness, async ({ store, workers, network, accepted }) => {
    const feeding = feed(store, accepted, { isGoing: (n) => n <= options.deliveries });
    for (const disturb of shuffle(options)) {
      await pause(300 + Math.random() * 400);
      if (disturb === 'kill') await killOne(workers);
      if (disturb === 'stop') await stopOne(workers, liveness);
      if (disturb === 'cut') {
        await network.cut(liveness.silentMs * 2);
        await untilAllAreBack(store, new Date());
      }
    }
    await feeding;
  });
}

/**
 * Runs four processes with production timeouts that handle a steady stream of deliveries. One is killed repeatedly;
 * after a third of the time, one stands still for longer than the others wait for it; after two thirds, the database
 * server is stopped in mode immediate and started again.
 */
export function crashWorkersFor({
  url,
  seconds,
  killEveryMs,
  restart,
}: TimedOptions): Promise<WorkersReport> {
  return withWorkers(url, standardLiveness, async ({ store, workers, accepted }) => {
    const beginMs = nowMs();
    const endMs = beginMs + seconds * 1_000;
    const feeding = feed(store, accepted, { isGoing: () => nowMs() < endMs, everyMs: 100 });
    const at = async (share: number, disturb: () => Promise<void>): Promise<void> => {
      await pause(seconds * 1_000 * share);
      await disturb();
    };
    const others = [at(1 / 3, () => stopOne(workers, standardLiveness)), at(2 / 3, restart)];
    while (nowMs() < endMs) {
      const rest = pause(killEveryMs);
      await killOne(workers);
      await rest;
    }
    await Promise.all([feeding, ...others]);
  });
}

/** Environment of a disturbance. */
type Stage = {
  readonly store: Store;
  readonly workers: Workers;
  readonly network: Network;
  /** Ids of the deliveries that the store acknowledged. */
  readonly accepted: string[];
};

function withWorkers(
  url: string,
  times: Liveness,
  disturb: (stage: Stage) => Promise<void>,
): Promise<WorkersReport> {
  return withWorkspace('workers', async ({ folder, defer }) => {
    const network = await openNetwork(url);
    defer(network.close);
    // Uses the same network, because a process that is not cut off would rightly declare the others dead.
    const options = { url: network.url, role: 'worker', isVolatile: true, liveness: times } as const;
    const store = await insist(() => openPostgresStore(options));
    defer(store.close);
    const given = { url: network.url, liveness: times };
    const workers: Workers = new CrashProcesses('crash-worker', folder, given);
    defer(() => workers.end());
    await workers.fill(workerCount);
    const accepted: string[] = [];
    await disturb({ store, workers, network, accepted });
    await untilSettled(store, accepted.length);
    await workers.end();
    const stored = { accepted, settled: await settledIn(store) };
    return judgeAttempts(workers.events(), workers.standstills, stored);
  });
}

/** Kills a worker that does not stand still, and starts another. */
async function killOne(workers: Workers): Promise<void> {
  await workers.kill();
  await workers.fill(workerCount);
}

/** Stops a worker until others handle its deliveries, then lets it continue. */
function stopOne(workers: Workers, { lifeMs }: Liveness): Promise<void> {
  return workers.stop(lifeMs + 500 + Math.random() * 400);
}

/**
 * Resolves when every worker, and the process that feeds them, has had a heartbeat after `since`; before that, a new
 * process may declare them dead.
 */
async function untilAllAreBack(store: Pick<Store, 'listProcesses'>, since: Date): Promise<void> {
  for (;;) {
    const processes = await insist(() => store.listProcesses());
    if (processes.filter(({ seenAt }) => seenAt > since).length > workerCount) return;
    await pause(50);
  }
}

function shuffle({ kills, stops, cuts }: WorkersOptions): readonly string[] {
  const all = [
    ...Array.from({ length: kills }, () => 'kill'),
    ...Array.from({ length: stops }, () => 'stop'),
    ...Array.from({ length: cuts }, () => 'cut'),
  ];
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
