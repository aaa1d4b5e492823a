import { Slots } from '../../platform/cache/slots.ts';
import { AttemptAborted } from './ending.ts';
import type { Sleep } from './timer.ts';

type Task = { readonly cut: AbortController; readonly done: Promise<void> };

/** Ends of attempts that are recorded beside further attempts: where the store is slow, these wait for it. */
const maxRecorded = 16;

/** The attempts in progress, and those whose end is being recorded. */
export class Tasks {
  readonly #tasks = new Slots<Task>();
  #handled = 0;

  get size(): number {
    return this.#tasks.size;
  }

  /** Returns how many of `concurrency` attempts may begin: one whose end is being recorded makes room for another. */
  places(concurrency: number): number {
    return Math.min(concurrency - this.#handled, concurrency + maxRecorded - this.#tasks.size);
  }

  /** Calls the handler of a task. */
  async handle<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#handled += 1;
    try {
      return await work();
    } finally {
      this.#handled -= 1;
    }
  }

  /** Runs an attempt, which must not reject. Aborting `cut` ends it early. `onEnd` is called once it is over. */
  begin(run: (abortController: AbortController) => Promise<void>, onEnd: () => void): void {
    const abortController = new AbortController();
    const done = run(abortController).finally(() => {
      this.#tasks.take(slot);
      onEnd();
    });
    const slot = this.#tasks.add({ cut: abortController, done });
  }

  /** Resolves when no attempt is in progress. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all([...this.#tasks].map((task) => task.done));
  }

  /** Waits up to `graceMs` for the attempts in progress, then aborts them and waits for their ends. */
  async finish(graceMs: number, sleep: Sleep): Promise<void> {
    const finished = new AbortController();
    await Promise.race([this.idle(), sleep(graceMs, finished.signal)]);
    finished.abort();
    for (const task of this.#tasks) task.cut.abort(new AttemptAborted('released', 'the process is stopping'));
    await this.idle();
  }
}
