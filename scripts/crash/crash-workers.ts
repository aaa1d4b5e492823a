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

/** Workers at a time. */
const workerCount = 4;

/** What a worker is given: the database, and how long it counts as alive without a heartbeat. */
export type WorkerOptions = { readonly url: string; readonly liveness: Liveness };
type Workers = CrashProcesses<WorkerOptions, 'ready'>;

type WorkersOptions = {
  /** A schema on a server with a socket. */
  readonly url: string;
  readonly deliveries: number;
  readonly kills: number;
  /** How often a worker stands still for longer than the others wait for it. */
  readonly stops: number;
  /** How often the network is cut for all workers. */
  readonly cuts: number;
};

type TimedOptions = {
  /** A schema on a server with a socket. */
  readonly url: string;
  readonly seconds: number;
  /** Between two kills. */
  readonly killEveryMs: number;
  /** Stops the server in mode immediate, and starts it again. */
  restart(): Promise<void>;
};

/**
 * Four processes handle deliveries from one PostgreSQL database. Meanwhile they are killed, stopped and cut off from it. Returns
 * what became of the deliveries.
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
 * Four processes, with the times of usual processes, handle a steady stream of deliveries. One is killed again and again; after a
 * third of the time, one stands still for longer than the others wait for it; after two thirds, the server of the database is
 * stopped in mode immediate and started again.
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

/** What is disturbed. */
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
    // By the same network: one that is not cut off would rightly take the others for dead.
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

/** Stops a worker until others handle what it had, then lets it go on. */
function stopOne(workers: Workers, { lifeMs }: Liveness): Promise<void> {
  return workers.stop(lifeMs + 500 + Math.random() * 400);
}

/** Resolves when every worker, and the process that feeds them, has had a heartbeat since then: a new one may judge them dead. */
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
