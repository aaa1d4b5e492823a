import type { Store } from '../../../src/store/store.ts';
import { secret } from '../../harness/sender.ts';
import { answerQuestions, watchMemory } from '../process.ts';

/**
 * One server under load. The parent receives its port, and can then ask for its memory at any time. Each kind imports
 * only what it needs, so that its memory does not include the other kinds.
 */
const kinds = {
  /** Parses the same body and stores nothing. */
  async bare(): Promise<number> {
    const { default: fastify } = await import('fastify');
    const app = fastify();
    app.post('/webhook', async (_request, reply) => reply.code(202).send({ id: '1' }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return Number(new URL(app.listeningOrigin).port);
  },
  /** Verifies the signature with the library that most receivers use, and stores nothing. */
  async octokit(): Promise<number> {
    const { createServer } = await import('node:http');
    const { createNodeMiddleware, Webhooks } = await import('@octokit/webhooks');
    const webhooks = new Webhooks({ secret });
    const server = createServer(createNodeMiddleware(webhooks, { path: '/webhook' }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  },
  async reeve(path: string): Promise<number> {
    const { openSqliteStore } = await import('../../../src/store/sqlite/sqlite-store.ts');
    return receive(await openSqliteStore({ path, role: 'worker' }));
  },
  /** Reeve with its store in PostgreSQL. */
  async postgres(url: string): Promise<number> {
    const { openPostgresStore } = await import('../../../src/store/postgres/postgres-store.ts');
    return receive(await openPostgresStore({ url, role: 'web' }));
  },
};

const [kind = '', address = ''] = process.argv.slice(2);
const memory = watchMemory();
let counts: (() => Promise<unknown>) | undefined;
const port = await kinds[kind as keyof typeof kinds](address);
answerQuestions(port, { memory, counts: () => counts?.() });

/** Serves Reeve's receiver; the parent can ask how many deliveries it has stored. */
async function receive(store: Store): Promise<number> {
  const { serveReceiver } = await import('../../harness/receiver.ts');
  counts = () => store.counts();
  return serveReceiver(store);
}
