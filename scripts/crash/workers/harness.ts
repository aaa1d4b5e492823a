import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../../src/errors.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  type AttemptEvent,
  judgeAttempts,
  liveness,
  nowMs,
  type Standstill,
  type WorkersReport,
} from './attempts.ts';
import { openNetwork } from './network.ts';

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

const workerCount = 4;
const laneCount = 12;

/**
 * Four processes handle deliveries from one PostgreSQL database. Meanwhile they are killed, stopped and cut off from it. Returns
 * what became of the deliveries.
 */
export async function crashWorkers(options: WorkersOptions): Promise<WorkersReport> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-workers-'));
  const network = await openNetwork(options.url);
  // By the same network: one that is not cut off would rightly take the others for dead.
  const store = await openPostgresStore({ url: network.url, role: 'worker', isVolatile: true, liveness });
  const team = createTeam(network.url, folder);
  try {
    await team.start();
    const accepted: string[] = [];
    const feeding = feed(store, options.deliveries, accepted);
    for (const disturb of shuffle(options)) {
      await pause(300 + Math.random() * 400);
      if (disturb === 'kill') await team.kill();
      if (disturb === 'stop') await team.stop();
      if (disturb === 'cut') await network.cut(liveness.silentMs * 2);
    }
    await feeding;
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

/** Stores deliveries lane by lane, each after the one before it was acknowledged. */
async function feed(store: Store, count: number, accepted: string[]): Promise<void> {
  const lanes = Array.from({ length: laneCount }, (_, lane) => `${lane % 5}#${lane}`);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let n = 1; n <= count / laneCount; n += 1) {
        const delivery = {
          uuid: randomUUID(),
          eventType: 'push',
          entry: 'crash',
          contentType: 'application/json',
          receivedAt: new Date(),
          body: Buffer.from(JSON.stringify({ lane, n })),
        };
        accepted.push((await insist(() => store.accept(delivery))).id);
      }
    }),
  );
}

/** Waits until all are settled, or for a minute without any progress. */
async function untilSettled(store: Store, count: number): Promise<void> {
  for (let [last, sinceMs] = [-1, nowMs()]; nowMs() - sinceMs < 60_000; ) {
    const { settled } = await insist(() => store.counts());
    if (settled === count) return;
    if (settled !== last) [last, sinceMs] = [settled, nowMs()];
    await pause(50);
  }
}

/** The database says it: a worker can be killed after the server has stored that it settled one, and before it writes so. */
async function settledIn(store: Store): Promise<ReadonlySet<string>> {
  const settled = new Set<string>();
  for (let before: string | undefined; ; ) {
    const query = { state: 'settled', limit: 500, ...(before === undefined ? {} : { before }) } as const;
    const { items, next } = await insist(() => store.listDeliveries(query));
    for (const { id } of items) settled.add(id);
    if (next === undefined) return settled;
    before = next;
  }
}

/** Asks until the database can be reached. */
async function insist<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'store-unwritable') throw error;
      await pause(50);
    }
  }
}

/** The workers; each has a name of its own, also the one that takes the place of another. */
function createTeam(url: string, folder: string) {
  const members = new Map<string, ChildProcess>();
  const standstills: Standstill[] = [];
  let count = 0;
  const fileOf = (name: string): string => join(folder, name);
  const hire = async (): Promise<void> => {
    count += 1;
    const name = `worker-${count}`;
    const child = fork(new URL('./child.ts', import.meta.url), [url, fileOf(name), name], { execArgv: [] });
    members.set(name, child);
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
    ]);
  };
  const anyone = (): readonly [string, ChildProcess] => {
    const all = [...members];
    const found = all[Math.floor(Math.random() * all.length)];
    if (found === undefined) throw new Error('there is no worker');
    return found;
  };
  const finish = async (child: ChildProcess): Promise<void> => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  return {
    standstills,
    async start() {
      await Promise.all(Array.from({ length: workerCount }, hire));
    },
    async kill() {
      const [name, child] = anyone();
      members.delete(name);
      const fromMs = nowMs();
      await finish(child);
      standstills.push({ worker: name, fromMs, toMs: Number.POSITIVE_INFINITY });
      await hire();
    },
    /** Stops a worker until others handle what it had, then lets it go on. */
    async stop() {
      const [name, child] = anyone();
      const fromMs = nowMs();
      child.kill('SIGSTOP');
      await pause(liveness.lifeMs + 500 + Math.random() * 400);
      standstills.push({ worker: name, fromMs, toMs: nowMs() });
      child.kill('SIGCONT');
    },
    async end() {
      await Promise.all([...members.values()].map(finish));
      members.clear();
    },
    events(): readonly AttemptEvent[] {
      const names = Array.from({ length: count }, (_, index) => fileOf(`worker-${index + 1}`));
      return names.filter(existsSync).flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.endsWith('}'))
          .map((line) => JSON.parse(line) as AttemptEvent),
      );
    },
  };
}
