import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { builtProgram } from '../built-program.ts';
import { watchProcess } from '../processes.ts';
import type { ServeOptions } from './serve-process.ts';

/** The server in a process of its own that can be killed, and starts again on its data and at its port. */
export interface KilledServer {
  readonly port: number;
  /** A reader of its store, beside it. */
  readonly store: Store;
  /** Ends the process with SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again if it was killed. */
  revive(): Promise<void>;
  /** Sets its clock this much further ahead. */
  advance(ms: number): void;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startKilledServer(
  options: Omit<ServeOptions, 'port' | 'aheadMs'>,
): Promise<KilledServer> {
  let aheadMs = 0;
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const given = JSON.stringify({ ...options, port, aheadMs } satisfies ServeOptions);
    child = watchProcess(fork(builtProgram('serve-process'), [given], { execArgv: [] }));
    port = await portOf(child);
  };
  await start();
  const store = await openSqliteStore({ path: join(options.data, 'reeve.db'), role: 'reader' });
  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    if (dying === undefined) return;
    const gone = once(dying, 'exit');
    dying.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    store,
    kill,
    async revive() {
      if (child === undefined) await start();
    },
    advance(ms) {
      aheadMs += ms;
      child?.send({ aheadMs });
    },
    async close() {
      await kill();
      await store.close();
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', ({ port }: { readonly port: number }) => resolve(port));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
}
