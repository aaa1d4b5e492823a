import '../../../src/platform/interpreted-shapes.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOperation } from '../../../src/contract/operations.ts';
import { type Log, silentLog } from '../../../src/platform/log.ts';
import { startServer } from '../../../src/server/server.ts';
import { SweepStore } from '../../../src/work/sweeps/progress.ts';
import { answerQuestions, watchMemory } from '../process.ts';

/** What one sweep cost. */
export type Cost = {
  readonly items: number;
  readonly failed: number;
  readonly reads: number;
  readonly writes: number;
  readonly seconds: number;
  /** What the heap has grown by from the first tenth of the items to the end, garbage collected. */
  readonly growthBytes: number;
  /** The most memory that the process has held so far, and what it held before its first sweep. */
  readonly peakBytes: number;
  readonly restBytes: number;
};

/** Reeve as `reeve sweep` starts it, in a process of its own; the parent names a rule and how many items it has. */
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
  // A sweep is a job of another process here: by itself it would wait for up to a second, longer than the smaller ones take.
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
  // Without collecting first, what counts is when the collector last came: 1 MB is kept, 28 MB were seen.
  if (globalThis.gc === undefined) throw new Error('start this with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
