import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { type Liveness, standardLiveness } from '../../../src/store/postgres/presence.ts';
import type { Store } from '../../../src/store/store.ts';
import { judgeAttempts, liveness, nowMs, type WorkersReport } from './attempts.ts';
import { type Network, openNetwork } from './network.ts';
import { createTeam, memberCount, type Team } from './team.ts';
import { feed, insist, settledIn, untilSettled } from './traffic.ts';

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
  return withWorkers(options.url, liveness, async ({ store, team, network, accepted }) => {
    const feeding = feed(store, accepted, { isGoing: (n) => n <= options.deliveries });
    for (const disturb of shuffle(options)) {
      await pause(300 + Math.random() * 400);
      if (disturb === 'kill') await team.kill();
      if (disturb === 'stop') await team.stop();
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
  return withWorkers(url, standardLiveness, async ({ store, team, accepted }) => {
    const beginMs = nowMs();
    const endMs = beginMs + seconds * 1_000;
    const feeding = feed(store, accepted, { isGoing: () => nowMs() < endMs, everyMs: 100 });
    const at = async (share: number, disturb: () => Promise<void>): Promise<void> => {
      await pause(seconds * 1_000 * share);
      await disturb();
    };
    const others = [at(1 / 3, team.stop), at(2 / 3, restart)];
    while (nowMs() < endMs) {
      const rest = pause(killEveryMs);
      await team.kill();
      await rest;
    }
    await Promise.all([feeding, ...others]);
  });
}

/** What is disturbed. */
type Stage = {
  readonly store: Store;
  readonly team: Team;
  readonly network: Network;
  /** Ids of the deliveries that the store acknowledged. */
  readonly accepted: string[];
};

async function withWorkers(
  url: string,
  times: Liveness,
  disturb: (stage: Stage) => Promise<void>,
): Promise<WorkersReport> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-workers-'));
  const network = await openNetwork(url);
  // By the same network: one that is not cut off would rightly take the others for dead.
  const options = { url: network.url, role: 'worker', isVolatile: true, liveness: times } as const;
  const store = await insist(() => openPostgresStore(options));
  const team = createTeam(network.url, folder, times);
  try {
    await team.start();
    const accepted: string[] = [];
    await disturb({ store, team, network, accepted });
    await untilSettled(store, accepted.length);
    await team.end();
    return judgeAttempts(team.events(), team.standstills, { accepted, settled: await settledIn(store) });
  } finally {
    await team.end();
    await store.close();
    await network.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves when every worker, and the process that feeds them, has had a heartbeat since then: a new one may judge them dead. */
async function untilAllAreBack(store: Pick<Store, 'listProcesses'>, since: Date): Promise<void> {
  for (;;) {
    const processes = await insist(() => store.listProcesses());
    if (processes.filter(({ seenAt }) => seenAt > since).length > memberCount) return;
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
