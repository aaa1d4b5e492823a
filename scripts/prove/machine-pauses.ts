import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** For how long the machine held up a thread that does nothing but wait and sync a few bytes, at most. */
export type MachinePauses = { readonly syncMs: number; readonly timerMs: number };

/**
 * Does the work, and watches the disk and the processors meanwhile, with a file at `path`. What was measured is a figure of the machine
 * where the pauses are as long.
 */
export async function whileWatched<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly pauses: MachinePauses }> {
  const watcher = new Worker(new URL('children/watch-machine.ts', import.meta.url), { workerData: path });
  try {
    const result = await work();
    const answer = once(watcher, 'message');
    watcher.postMessage('stop');
    const [pauses] = (await answer) as [MachinePauses];
    return { result, pauses };
  } finally {
    await watcher.terminate();
  }
}
