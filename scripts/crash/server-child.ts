import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../src/platform/errors.ts';
import { silentLog } from '../../src/platform/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Accepted, Claim, Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/work/deliveries/worker.ts';
import { nowMs } from '../harness/progress.ts';
import { serveReceiver } from '../harness/receiver.ts';
import { type AttemptEvent, liveness } from './attempts.ts';
import type { ServerAnswer, ServerOptions } from './crash-servers.ts';
import type { ProcessOptions } from './processes.ts';

/**
 * Runs one server for the harness: the real receiver, store and worker on a free port, which is reported to the parent.
 * It writes the attempts of its deliveries to a file that survives its death.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions<ServerOptions>;
const { store: kind, address, twin, name, events } = options;
let wake = (): void => {};
const store =
  kind === 'postgres'
    ? await openPostgresStore({ url: address, role: 'worker', liveness, onWork: () => wake() })
    : await openSqliteStore({ path: address, role: 'worker' });

const note = (event: AttemptEvent['event'], claim: Claim): void => {
  const { n } = JSON.parse(Buffer.from(claim.body).toString()) as { n: number };
  const { uuid: id, lane = '', lease } = claim;
  appendFileSync(events, `${JSON.stringify({ event, atMs: nowMs(), worker: name, id, lane, n, lease })}\n`);
};

/** Broken twin: acknowledges a delivery shortly before it stores it. */
const ackFirst: Pick<Store, 'accept'> = {
  async accept(delivery): Promise<Accepted> {
    setTimeout(() => store.accept(delivery), 5);
    return { id: delivery.uuid, known: false };
  },
};

const worker = createWorker({
  store: {
    ...store,
    async settle(claim, runs, reason) {
      try {
        await store.settle(claim, runs, reason);
        note('settled', claim);
      } catch (error) {
        if (error instanceof ReeveError && error.code === 'lease-lost') note('lost', claim);
        throw error;
      }
    },
  },
  log: silentLog,
  async handle(claim) {
    note('start', claim);
    await pause(Math.random() * 4);
    note('finish', claim);
    return { runs: [] };
  },
});
const port = await serveReceiver(twin === 'ack-first' ? ackFirst : store, worker.wake);
worker.start();
wake = worker.wake;
process.send?.({ port, open: 0 } satisfies ServerAnswer);
process.on('message', async () => {
  const { accepted, claimed, retry, deferred } = await store.counts();
  process.send?.({ port, open: accepted + claimed + retry + deferred } satisfies ServerAnswer);
});
// A crashed harness must not leave its servers behind.
process.on('disconnect', () => process.exit(1));
