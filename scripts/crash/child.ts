import fastify from 'fastify';
import { silentLog } from '../../src/log.ts';
import { serverOptions } from '../../src/receiver/limits.ts';
import { receiver } from '../../src/receiver/route.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Accepted, Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/worker.ts';
import { authorization, secret } from './sender.ts';

/** One server under the harness: the real receiver, store and worker on a free port, told to the parent. */
const [path = '', twin = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path, role: 'worker' });

/** The broken twin: says that it has stored what it will store a moment later. */
const ackFirst: Pick<Store, 'accept'> = {
  async accept(delivery): Promise<Accepted> {
    setTimeout(() => store.accept(delivery), 5);
    return { id: delivery.uuid, known: false };
  },
};

const app = fastify(serverOptions());
const worker = createWorker({ store, log: silentLog, handle: async () => ({ runs: [] }) });
await app.register(receiver, {
  store: twin === 'ack-first' ? ackFirst : store,
  secrets: [{ name: 'crash', scope: ['*'], authorization: [authorization], hmac: [secret] }],
  log: silentLog,
  onStored: worker.wake,
});
await app.listen({ port: 0, host: '127.0.0.1' });
worker.start();
process.send?.({ port: Number(new URL(app.listeningOrigin).port) });
// A harness that died must not leave its servers behind.
process.on('disconnect', () => process.exit(1));
