import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { builtProgram } from '../../test/support/built-program.ts';
import { nowMs } from '../harness/progress.ts';
import type { AttemptEvent, Standstill } from './attempts.ts';

/** Start options of a process: its name, and the file to which it writes its attempts. */
export type ProcessOptions<Given> = Given & { readonly name: string; readonly events: string };

/**
 * Processes of one program that share a store. Each has a unique name, even if it replaces another, and writes its
 * attempts to a file in `folder` that survives its death.
 */
export class CrashProcesses<Given extends object, Answer> {
  /** Deaths, and periods in which a process stood still. */
  readonly standstills: Standstill[] = [];
  readonly #running = new Map<string, { readonly child: ChildProcess; readonly ready: Answer }>();
  readonly #stopped = new Set<string>();
  readonly #program: 'crash-server' | 'crash-worker';
  readonly #folder: string;
  readonly #given: Given;
  #count = 0;

  constructor(program: 'crash-server' | 'crash-worker', folder: string, given: Given) {
    this.#program = program;
    this.#folder = folder;
    this.#given = given;
  }

  /** Starts processes up to the requested number; returns the ready message of each new process. */
  async fill(wanted: number): Promise<readonly Answer[]> {
    const start = async (): Promise<void> => {
      this.#count += 1;
      const name = `${this.#program}-${this.#count}`;
      const options: ProcessOptions<Given> = { ...this.#given, name, events: join(this.#folder, name) };
      const child = fork(builtProgram(this.#program), [JSON.stringify(options)], {
        execPath: process.execPath,
        execArgv: [],
      });
      this.#running.set(name, { child, ready: await answerOf<Answer>(child) });
    };
    await Promise.all(Array.from({ length: Math.max(wanted - this.#running.size, 0) }, start));
    return [...this.#running.values()].map(({ ready }) => ready);
  }

  /** Kills a process that does not stand still, with SIGKILL. */
  async kill(): Promise<void> {
    const [name, child] = this.#anyone();
    this.#running.delete(name);
    const fromMs = nowMs();
    await finish(child);
    this.standstills.push({ worker: name, fromMs, toMs: Number.POSITIVE_INFINITY });
  }

  /** Suspends a process for this time, then lets it continue. */
  async stop(ms: number): Promise<void> {
    const [name, child] = this.#anyone();
    this.#stopped.add(name);
    const fromMs = nowMs();
    child.kill('SIGSTOP');
    await pause(ms);
    this.standstills.push({ worker: name, fromMs, toMs: nowMs() });
    child.kill('SIGCONT');
    this.#stopped.delete(name);
  }

  /** Sends a question to one of the processes. */
  async ask(question: string): Promise<Answer> {
    const [, child] = this.#anyone();
    const answer = answerOf<Answer>(child);
    child.send(question);
    return answer;
  }

  /** Kills all processes. */
  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ child }) => finish(child)));
    this.#running.clear();
  }

  /** Returns what all processes wrote until their deaths; the last line of each may be incomplete. */
  events(): readonly AttemptEvent[] {
    const names = Array.from({ length: this.#count }, (_, index) => `${this.#program}-${index + 1}`);
    return names
      .map((name) => join(this.#folder, name))
      .filter(existsSync)
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as AttemptEvent);
  }

  #anyone(): readonly [string, ChildProcess] {
    const all = [...this.#running].filter(([name]) => !this.#stopped.has(name));
    const [name, found] = all[Math.floor(Math.random() * all.length)] ?? [];
    if (name === undefined || found === undefined) throw new Error('there is no process');
    return [name, found.child];
  }
}

async function finish(child: ChildProcess): Promise<void> {
  const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const ended = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([message]) => message as Answer),
      once(child, 'exit', { signal: ended.signal }).then(([code]) => {
        throw new Error(`the process ended with ${code} before it answered`);
      }),
    ]);
  } finally {
    ended.abort();
  }
}
