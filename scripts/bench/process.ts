import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { nowMs } from '../harness/progress.ts';

/**
 * Process that answers one question at a time, so that the measured code shares no event loop with the measuring code.
 */
export interface Child {
  readonly pid: number;
  /** Asks a question by its name in the script's `answerQuestions`. */
  ask<Answer>(question: string, value?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** Node flags and environment of a new process, as in `bin/memory.json`. */
export type Start = {
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

type Question = { readonly question: string; readonly value?: unknown };

/**
 * Starts a script, by its name in `children/` or by its URL. `ready` is the message that the script sends when it is
 * ready.
 */
export async function startChild<Ready>(
  script: string | URL,
  args: readonly string[] = [],
  { nodeFlags = [], environment = {} }: Start = {},
): Promise<{ readonly child: Child; readonly ready: Ready }> {
  const file = typeof script === 'string' ? new URL(`./children/${script}.ts`, import.meta.url) : script;
  const running = fork(file, args, {
    execPath: process.execPath,
    execArgv: [...nodeFlags],
    env: { ...process.env, ...environment },
  });
  const child: Child = {
    pid: running.pid ?? 0,
    async ask<Answer>(question: string, value?: unknown) {
      running.send({ question, value } satisfies Question);
      // Process boundary: both ends are scripts of this folder.
      return (await nextMessage(running)) as Answer;
    },
    async stop() {
      if (running.exitCode !== null) return;
      const exited = once(running, 'exit');
      running.kill('SIGTERM');
      await exited;
    },
  };
  return { child, ready: (await nextMessage(running)) as Ready };
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

/**
 * Answers the questions of the parent process, one at a time, until the parent ends. `close` runs before this process
 * is stopped.
 */
export function answerQuestions(
  ready: unknown,
  answers: Readonly<Record<string, (value: never) => unknown>>,
  close?: () => Promise<unknown>,
): void {
  process.on('message', async ({ question, value }: Question) => {
    const answer = answers[question];
    if (answer === undefined) throw new Error(`no answer to ${question}`);
    process.send?.((await answer(value as never)) ?? 'done');
  });
  process.on('disconnect', () => process.exit(1));
  if (close !== undefined)
    process.on('SIGTERM', async () => {
      await close();
      process.exit(0);
    });
  process.send?.(ready);
}

/** Returns a function that reads the peak memory of this process from now on, in bytes. */
export function watchMemory(): () => number {
  let peakBytes = 0;
  const look = (): number => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
    return peakBytes;
  };
  setInterval(look, 50).unref();
  return look;
}

/** Returns the processor time of all threads of this process since its start. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Number of handled deliveries, times of the first and the last one, in milliseconds of the machine's monotonic clock,
 * and the processor time that the process has used so far.
 */
export type Handled = {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly processorMs: number;
};

/** Counts the deliveries that a process has handled. */
export function createTally() {
  let [count, firstMs, lastMs] = [0, 0, 0];
  return {
    add(more = 1): void {
      lastMs = nowMs();
      if (count === 0) firstMs = lastMs;
      count += more;
    },
    read: (): Handled => ({ count, firstMs, lastMs, processorMs: processorMs() }),
  };
}
