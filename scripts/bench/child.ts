import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that answers one question at a time, so that what is measured shares no event loop with who measures. */
export interface Child {
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** What a process gets when it starts, as `bin/memory.json` says it. */
export type Start = {
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

/** Starts a script of this folder; the first thing it sends says that it is ready. */
export async function startChild(
  script: URL,
  args: readonly string[] = [],
  { nodeFlags = [], environment = {} }: Start = {},
): Promise<{ child: Child; ready: unknown }> {
  const child = fork(script, args, {
    execPath: process.execPath,
    execArgv: [...nodeFlags],
    env: { ...process.env, ...environment },
  });
  const ready = await nextMessage(child);
  return {
    ready,
    child: {
      async ask<Answer>(question: unknown) {
        child.send(question as object);
        // The border between processes: both ends are scripts of this folder.
        return (await nextMessage(child)) as Answer;
      },
      async stop() {
        if (child.exitCode !== null) return;
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      },
    },
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${child.spawnfile} ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
