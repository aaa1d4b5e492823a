import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '../../../src/platform/log.ts';
import { openStoreAt } from '../../../src/store/open-store.ts';
import type { ServerRole } from '../../../src/store/store.ts';
import { createWorker } from '../../../src/work/deliveries/worker.ts';
import { routeDelivery } from '../../../src/work/runs/route-delivery.ts';
import { nowMs } from '../../harness/progress.ts';
import { serveReceiver } from '../../harness/receiver.ts';
import { storeBacklog } from '../deliveries.ts';
import { answerQuestions, createTally } from '../process.ts';

/** Start options of this script. */
export type ReeveProcess = {
  readonly data: string;
  /** If absent, the store is in a file. */
  readonly databaseUrl?: string;
  readonly role: ServerRole;
  readonly concurrency: number;
  /** Time that a handler waits, as for the responses of a forge. Default: it does nothing. */
  readonly handlerMs?: number;
};

/**
 * Runs one Reeve process: receiver, store and worker, with a handler that changes nothing. Reports its port when it is
 * ready.
 */
const { role, concurrency, handlerMs = 0, ...place } = JSON.parse(process.argv[2] ?? '{}') as ReeveProcess;
let wake = (): void => {};
const store = await openStoreAt(place, { role, onWork: () => wake() });
const tally = createTally();
/** Start times of the handlers, by the UUID of the delivery. */
const starts = new Map<string, number>();

const worker = createWorker({
  store: {
    ...store,
    async settle(...settlement) {
      await store.settle(...settlement);
      tally.add();
    },
  },
  log: silentLog,
  concurrency,
  async handle({ uuid }) {
    starts.set(uuid, nowMs());
    if (handlerMs > 0) await pause(handlerMs);
    return { runs: [] };
  },
});

const port = await serveReceiver(store, () => wake());

async function routeAll(): Promise<void> {
  for (;;) {
    const deliveries = await store.unrouted(500);
    if (deliveries.length === 0) return;
    await store.route(deliveries.map((delivery) => routeDelivery(delivery).routing));
  }
}

/** Claims and settles deliveries repeatedly; returns how long each claim took. */
async function claim({ times, limit }: { times: number; limit: number }): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let at = 0; at < times; at += 1) {
    const startMs = nowMs();
    const claims = await store.claim({ limit, leaseMs: 60_000 });
    taken.push(nowMs() - startMs);
    if (claims.length !== limit) throw new Error(`claimed ${claims.length} of ${limit}`);
    await Promise.all(claims.map((claim) => store.settle(claim, [])));
  }
  return taken;
}

answerQuestions(port, {
  store: (deliveries: number) => storeBacklog(store, deliveries),
  route: routeAll,
  claim,
  start() {
    worker.start();
    wake = worker.wake;
  },
  handled: tally.read,
  starts: () => [...starts],
});
