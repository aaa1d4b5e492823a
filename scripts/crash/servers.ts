import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { builtProgram } from '../../test/support/built-program.ts';
import { type AttemptEvent, nowMs, type Standstill } from './workers/attempts.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** What a server under the harness is given. */
export type ServerOptions = {
  readonly store: StoreKind;
  /** Path of the file, or connection string. */
  readonly address: string;
  /** `ack-first`: the broken twin that the harness must catch. */
  readonly twin: string;
  readonly name: string;
  /** Where it writes its attempts. */
  readonly events: string;
};

/** Servers that share a store. */
export interface Servers {
  /** Starts servers until there are as many as asked for; returns their ports. */
  fill(count: number): Promise<readonly number[]>;
  /** Kills one of them with SIGKILL. */
  killOne(): Promise<void>;
  /** Resolves when nothing waits in the store any more; rejects after two minutes without progress. */
  drain(): Promise<void>;
  /** Kills all. */
  end(): Promise<void>;
  readonly deaths: readonly Standstill[];
  /** Returns what all of them wrote. */
  events(): readonly AttemptEvent[];
}

/** Prepares servers that write their attempts into a folder. */
export function createServers(
  folder: string,
  given: Pick<ServerOptions, 'store' | 'address' | 'twin'>,
): Servers {
  const running = new Map<string, { readonly child: ChildProcess; readonly port: number }>();
  const deaths: Standstill[] = [];
  let count = 0;
  const fileOf = (number: number): string => join(folder, `server-${number}.jsonl`);

  const start = async (): Promise<void> => {
    count += 1;
    const name = `server-${count}`;
    const options: ServerOptions = { ...given, name, events: fileOf(count) };
    const child = fork(builtProgram('crash-child'), [JSON.stringify(options)], {
      execPath: process.execPath,
      execArgv: [],
    });
    const { port = 0 } = await answerOf(child);
    running.set(name, { child, port });
  };

  const kill = async (name: string): Promise<void> => {
    const child = running.get(name)?.child;
    if (child === undefined) return;
    running.delete(name);
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    const fromMs = nowMs();
    child.kill('SIGKILL');
    await ended;
    deaths.push({ worker: name, fromMs, toMs: Number.POSITIVE_INFINITY });
  };

  return {
    deaths,
    async fill(wanted) {
      await Promise.all(Array.from({ length: Math.max(wanted - running.size, 0) }, start));
      return [...running.values()].map(({ port }) => port);
    },
    async killOne() {
      const names = [...running.keys()];
      await kill(names[Math.floor(Math.random() * names.length)] ?? '');
    },
    async drain() {
      for (let [last, sinceMs] = [-1, nowMs()]; nowMs() - sinceMs < 120_000; ) {
        const [first] = running.values();
        if (first === undefined) throw new Error('there is no server');
        const answer = answerOf(first.child);
        first.child.send('count');
        const { open = 0 } = await answer;
        if (open === 0) return;
        if (open !== last) [last, sinceMs] = [open, nowMs()];
        await pause(50);
      }
      throw new Error('deliveries wait, and the servers make no progress');
    },
    async end() {
      await Promise.all([...running.keys()].map(kill));
    },
    events() {
      const files = Array.from({ length: count }, (_, index) => fileOf(index + 1));
      return files.filter(existsSync).flatMap(readEvents);
    },
  };
}

/** Reads what a process wrote until its death; the last line may be incomplete. */
export function readEvents(file: string): readonly AttemptEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as AttemptEvent);
}

async function answerOf(child: ChildProcess): Promise<{ readonly port?: number; readonly open?: number }> {
  const ended = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([message]) => message),
      once(child, 'exit', { signal: ended.signal }).then(([code]) => {
        throw new Error(`the server ended with ${code} before it answered`);
      }),
    ]);
  } finally {
    ended.abort();
  }
}
