import type { FastifyInstance } from 'fastify';

/**
 * Minimum size of a response that counts towards the limit; the number of sockets limits the memory of smaller
 * responses.
 */
const countedBytes = 1024 * 1024;
/** Maximum bytes of responses held in memory for clients that have not read them yet. */
const defaultMaxBytes = 256 * 1024 * 1024;
/** Maximum time to read a response; a slower client is disconnected. */
const maxReadingMs = 600_000;

/**
 * Limits the memory of responses to slow clients, such as diffs of up to 64 MiB: beyond the limit, a large response is
 * replaced by 503. Call it before routes are registered.
 */
export function limitUnsentAnswers(app: FastifyInstance, { maxBytes = defaultMaxBytes } = {}): void {
  let heldBytes = 0;
  app.addHook('onSend', async (_request, reply, payload) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (bytes < countedBytes || reply.raw.destroyed) return payload;
    if (heldBytes + bytes > maxBytes) {
      reply.code(503).header('retry-after', '5').type('text/plain; charset=utf-8');
      return 'too many large responses are being read, try again\n';
    }
    heldBytes += bytes;
    const timer = setTimeout(() => reply.raw.destroy(), maxReadingMs);
    reply.raw.once('close', () => {
      clearTimeout(timer);
      heldBytes -= bytes;
    });
    return payload;
  });
}
