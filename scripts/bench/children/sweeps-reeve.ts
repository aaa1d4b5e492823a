import '../../../src/platform/interpreted-shapes.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOperation } from '../../../src/contract/operations.ts';
import { type Log, silentLog } from '../../../src/platform/log.ts';
import { startServer } from '../../../src/server/server.ts';
import { SweepStore } from '../../../src/work/sweeps/progress.ts';
import { answerQuestions, watchMemory } from '../process.ts';

/** Cost of one sweep. */
export type Cost = {
  readonly items: number;
  readonly failed: number;
  readonly reads: number;
  readonly writes: number;
  readonly seconds: number;
  /** Growth of the heap from the first tenth of the items to the end, after garbage collection. */
  readonly growthBytes: number;
  /** Peak memory of the process so far, and its memory before the first sweep. */
  readonly peakBytes: number;
  readonly restBytes: number;
};

/** Runs Reeve like `reeve sweep`, in a separate process. The parent names a rule and the number of its items. */
const [url = '', data = '', rules = ''] = process.argv.slice(2);
const asked = { reads: 0, writes: 0 };
let done = 0;
let [tenth, early] = [0, 0];

const log: Log = {
  ...silentLog,
  debug(members, message) {
    if (message !== 'asked the forge') return;
    const operation = findOperation(String(Reflect.get(members, 'operation')));
    asked[operation?.method === 'GET' ? 'reads' : 'writes'] += 1;
  },
};
const server = await startServer({
  forge: { url, credentials: { user: 'root', password: 'password' } },
  secrets: [],
  data,
  rules,
  repositories: [],
  allowAdmin: true,
  host: '127.0.0.1',
  port: 0,
  log,
  jobsOnly: true,
  // The worker finds the job of a sweep only by polling. With the default interval of a second, that could take longer
  // than a small sweep.
  pollMs: 10,
  onSweepRun() {
    done += 1;
    if (done === tenth) early = heapBytes();
  },
});
const restBytes = process.memoryUsage.rss();
const memory = watchMemory();

async function sweep({ rule, count }: { rule: string; count: number }): Promise<Cost> {
  Object.assign(asked, { reads: 0, writes: 0 });
  [done, tenth] = [0, Math.ceil(count / 10)];
  const id = `${rules}#${rule}`;
  const slot = `${id}#bench@${new Date().toISOString()}`;
  const startedMs = performance.now();
  const about = { kind: 'sweep', lane: `sweep ${id}`, receivedAt: new Date(), payload: { rule: id, slot } };
  const { id: job } = await server.store.enqueue({ door: 'cli', uuid: slot, ...about });
  for (let state = ''; state !== 'settled'; ) {
    await sleep(20);
    const delivery = await server.store.readDelivery(job);
    state = delivery?.state ?? 'gone';
    if (state === 'dead' || state === 'gone') throw new Error(`the sweep is ${state}: ${delivery?.reason}`);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const result = await new SweepStore(server.store).readResult(id);
  if (result === undefined) throw new Error(`there is no rule ${id}`);
  const { items, failed } = result;
  const growthBytes = heapBytes() - early;
  return { items, failed, ...asked, seconds, growthBytes, peakBytes: memory(), restBytes };
}

answerQuestions('ready', { sweep }, server.stop);

function heapBytes(): number {
  // Without a collection, the result depends on when the collector last ran: 28 MB were measured where 1 MB is kept.
  if (globalThis.gc === undefined) throw new Error('start this with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
