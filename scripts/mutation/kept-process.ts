import {
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type TestProject,
  type WorkerRequest,
} from 'vitest/node';

type Listener = (...args: unknown[]) => void;

/** Number of mutants after which the process is replaced, so that side effects of mutants cannot accumulate. */
const mutantsOfProcess = 50;

/** Test process that is reused for one mutant after another. */
let kept: ForksPoolWorker | undefined;
let uses = 0;

/**
 * Vitest ends its test process after each run, and a run is one mutant; starting the process and loading the sources
 * takes ten times as long as the tests of a mutant. This process is kept for the next run. A run that did not end
 * properly ends it.
 */
class KeptProcess implements PoolWorker {
  readonly name = 'kept';
  readonly cacheFs = true;
  readonly #options: PoolOptions;
  readonly #project: TestProject;
  readonly #listeners: [string, Listener][] = [];
  #process: ForksPoolWorker | undefined;
  #isNew = false;
  #hasStopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#project = options.project;
  }

  async start(): Promise<void> {
    if (kept !== undefined && uses >= mutantsOfProcess) await endKept();
    this.#isNew = kept === undefined;
    if (kept === undefined) {
      uses = 0;
      const started = new ForksPoolWorker(this.#options);
      await started.start();
      kept = started;
    }
    uses += 1;
    this.#process = kept;
  }

  on(event: string, callback: Listener): void {
    this.#listeners.push([event, callback]);
    this.#process?.on(event, callback);
  }

  off(event: string, callback: Listener): void {
    this.#process?.off(event, callback);
  }

  send(message: WorkerRequest): void {
    const type = 'type' in message ? message.type : undefined;
    if (type === 'start' && !this.#isNew) this.#answer('started');
    else if (type === 'stop') {
      this.#hasStopped = true;
      this.#answer('stopped');
    } else this.#process?.send(this.#withConfig(message));
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  async stop(): Promise<void> {
    for (const [event, callback] of this.#listeners) this.#process?.off(event, callback);
    if (!this.#hasStopped && this.#process === kept) await endKept();
  }

  /**
   * The process received the configuration at its start, but the names of the tests to run differ from mutant to
   * mutant.
   */
  #withConfig(message: WorkerRequest): WorkerRequest {
    if (!('type' in message) || message.type !== 'run') return message;
    const context = { ...message.context, config: this.#project.serializedConfig };
    return { ...message, context };
  }

  #answer(type: 'started' | 'stopped'): void {
    const answer = { type, __vitest_worker_response__: true };
    queueMicrotask(() => {
      for (const [event, callback] of this.#listeners) if (event === 'message') callback(answer);
    });
  }
}

async function endKept(): Promise<void> {
  const ended = kept;
  kept = undefined;
  await ended?.stop();
}

/** Vitest plugin: Stryker sets the pool itself, so the pool is replaced after the configuration has been read. */
export const keepProcess = {
  name: 'keep-process',
  configureVitest({
    project,
    vitest,
  }: {
    project: TestProject;
    vitest: { onClose(end: () => Promise<void>): void };
  }): void {
    const pool = { name: 'kept', createPoolWorker: (options: PoolOptions) => new KeptProcess(options) };
    Object.assign(project.config, { pool: pool.name, poolRunner: pool });
    vitest.onClose(endKept);
  },
};
