import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Liveness } from '../../../src/store/postgres/presence.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { readEvents } from '../servers.ts';
import { type AttemptEvent, nowMs, type Standstill } from './attempts.ts';

/** Workers at a time. */
export const memberCount = 4;

/** Worker processes that share a database. Each has a name of its own, also the one that takes the place of another. */
export interface Team {
  readonly standstills: readonly Standstill[];
  start(): Promise<void>;
  /** Kills one that does not stand still, and starts another. */
  kill(): Promise<void>;
  /** Stops one until others handle what it had, then lets it go on. */
  stop(): Promise<void>;
  end(): Promise<void>;
  /** Returns what all of them wrote. */
  events(): readonly AttemptEvent[];
}

/** Prepares workers of the database at `url` that write their attempts into a folder. */
export function createTeam(url: string, folder: string, liveness: Liveness): Team {
  const members = new Map<string, ChildProcess>();
  const stopped = new Set<string>();
  const standstills: Standstill[] = [];
  let count = 0;
  const fileOf = (name: string): string => join(folder, name);
  const hire = async (): Promise<void> => {
    count += 1;
    const name = `worker-${count}`;
    const args = [url, fileOf(name), name, JSON.stringify(liveness)];
    const child = fork(builtProgram('crash-worker'), args, { execArgv: [] });
    members.set(name, child);
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
    ]);
  };
  const anyone = (): readonly [string, ChildProcess] => {
    const all = [...members].filter(([name]) => !stopped.has(name));
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
      await Promise.all(Array.from({ length: memberCount }, hire));
    },
    async kill() {
      const [name, child] = anyone();
      members.delete(name);
      const fromMs = nowMs();
      await finish(child);
      standstills.push({ worker: name, fromMs, toMs: Number.POSITIVE_INFINITY });
      await hire();
    },
    async stop() {
      const [name, child] = anyone();
      stopped.add(name);
      const fromMs = nowMs();
      child.kill('SIGSTOP');
      await pause(liveness.lifeMs + 500 + Math.random() * 400);
      standstills.push({ worker: name, fromMs, toMs: nowMs() });
      child.kill('SIGCONT');
      stopped.delete(name);
    },
    async end() {
      await Promise.all([...members.values()].map(finish));
      members.clear();
    },
    events() {
      const names = Array.from({ length: count }, (_, index) => fileOf(`worker-${index + 1}`));
      return names.filter(existsSync).flatMap(readEvents);
    },
  };
}
