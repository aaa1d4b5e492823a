import { silentLog } from '../../../src/platform/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { createWorker } from '../../../src/work/deliveries/worker.ts';
import { storeBacklog } from '../deliveries.ts';
import { answerQuestions } from '../process.ts';

export type DrainResult = {
  readonly handled: number;
  readonly misordered: number;
  readonly perSecond: number;
  readonly growthBytes: number;
};

async function drain(path: string, deliveries: number): Promise<DrainResult> {
  const store = await openSqliteStore({ path, role: 'worker' });
  await storeBacklog(store, deliveries);
  const newest = new Map<string, number>();
  let handled = 0;
  let misordered = 0;
  let earlyBytes = 0;
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const worker = createWorker({
      store: {
        ...store,
        async settle(...settlement) {
          await store.settle(...settlement);
          if (handled === deliveries) resolve();
        },
      },
      log: silentLog,
      concurrency: 16,
      handle: async ({ id, lane = '' }) => {
        if (Number(id) < (newest.get(lane) ?? 0)) misordered += 1;
        newest.set(lane, Number(id));
        handled += 1;
        if (handled === Math.floor(deliveries / 10)) earlyBytes = process.memoryUsage.rss();
        return { runs: [] };
      },
    });
    worker.start();
  });
  const perSecond = handled / ((performance.now() - startMs) / 1_000);
  const growthBytes = Math.max(process.memoryUsage.rss() - earlyBytes, 0);
  await store.close();
  return { handled, misordered, perSecond, growthBytes };
}

answerQuestions('ready', { drain: (deliveries: number) => drain(process.argv[2] ?? '', deliveries) });
