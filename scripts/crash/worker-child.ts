import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../src/platform/errors.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Claim } from '../../src/store/store.ts';
import { nowMs } from '../harness/progress.ts';
import { type AttemptEvent, insist } from './attempts.ts';
import type { WorkerOptions } from './crash-workers.ts';
import type { ProcessOptions } from './processes.ts';

/**
 * Runs one worker process for the harness: routes, claims and ends deliveries, and writes its actions to a file that
 * survives its death. The body of a delivery decides how it is handled.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions<WorkerOptions>;
const { url, liveness, name: worker, events: file } = options;
const concurrency = 4;
const slowMs = 400;

const note = (event: Omit<AttemptEvent, 'atMs' | 'worker'>): void =>
  appendFileSync(file, `${JSON.stringify({ ...event, atMs: nowMs(), worker })}\n`);

let wake = (): void => {};
const store = await insist(() =>
  openPostgresStore({ url, role: 'worker', isVolatile: true, liveness, onWork: () => wake() }),
);
let active = 0;

/** Ends an attempt as soon as the store can be reached. */
async function end(call: () => Promise<void>): Promise<'done' | 'lost'> {
  try {
    await insist(call);
    return 'done';
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'lease-lost') return 'lost';
    throw error;
  }
}

async function handle(claim: Claim): Promise<void> {
  const { lane, n } = JSON.parse(Buffer.from(claim.body).toString()) as { lane: string; n: number };
  const about = { id: claim.id, lane, n, lease: claim.lease };
  note({ event: 'start', ...about });
  await pause(n % 25 === 0 ? slowMs : Math.random() * 6);
  note({ event: 'finish', ...about });
  // Some attempts fail once or twice, so that a delivery that waits for a retry returns to a lane that has moved on.
  if (claim.attempts < 3 && Math.random() < 0.3) {
    const result = await end(() => store.retry(claim, { afterMs: Math.random() * 20, reason: 'again' }));
    note({ event: result === 'done' ? 'retry' : 'lost', ...about });
  } else {
    const result = await end(() => store.settle(claim, []));
    note({ event: result === 'done' ? 'settled' : 'lost', ...about });
  }
}

async function look(): Promise<void> {
  const waiting = await store.unrouted(200);
  await store.route(
    waiting.map(({ id, body }) => ({ id, to: 'lane', lane: JSON.parse(Buffer.from(body).toString()).lane })),
  );
  if (active === concurrency) return;
  for (const claim of await store.claim({ limit: concurrency - active, leaseMs: 60_000 })) {
    active += 1;
    void handle(claim).finally(() => {
      active -= 1;
      wake();
    });
  }
}

// A crashed harness must not leave its workers behind.
process.on('disconnect', () => process.exit());
process.send?.('ready');
for (;;) {
  const isWoken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  await look().catch(async (error: unknown) => {
    if (!(error instanceof ReeveError) || error.code !== 'store-unwritable') throw error;
    await pause(50);
  });
  await Promise.race([isWoken, pause(50)]);
}
