import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import fastify from 'fastify';
import { silentLog } from '../../../src/log.ts';
import { serverOptions } from '../../../src/receiver/limits.ts';
import { receiver } from '../../../src/receiver/route.ts';
import { openSqliteStore } from '../../../src/store/sqlite.ts';
import { authorization, secret } from './load.ts';

/** One server under load; the parent learns its port, and then its memory as often as it asks. */
const kinds = {
  /** Parses the same body and stores nothing. */
  async bare(): Promise<number> {
    const app = fastify();
    app.post('/webhook', async (_request, reply) => reply.code(202).send({ id: '1' }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return Number(new URL(app.listeningOrigin).port);
  },
  /** Verifies the signature with the library most receivers use, and stores nothing. */
  async octokit(): Promise<number> {
    const webhooks = new Webhooks({ secret });
    const server = createServer(createNodeMiddleware(webhooks, { path: '/webhook' }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  },
  async reeve(path: string): Promise<number> {
    const store = await openSqliteStore({ path, role: 'worker' });
    const app = fastify(serverOptions());
    await app.register(receiver, {
      store,
      secrets: [{ name: 'bench', scope: ['*'], authorization: [authorization], hmac: [secret] }],
      log: silentLog,
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    process.on('message', async (question) => {
      if (question === 'counts') process.send?.(await store.counts());
    });
    return Number(new URL(app.listeningOrigin).port);
  },
};

const [kind = '', path = ''] = process.argv.slice(2);
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 50).unref();
process.on('message', (question) => {
  if (question === 'memory') process.send?.(Math.max(peakBytes, process.memoryUsage.rss()));
});
process.on('disconnect', () => process.exit(1));
process.send?.(await kinds[kind as keyof typeof kinds](path));
