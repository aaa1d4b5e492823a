import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { createBodies, type HeldBody } from './body.ts';
import { createGuards } from './guards.ts';
import { defaultMaxBodyBytes, maxConnections } from './limits.ts';
import { createLingering } from './linger.ts';
import { type ReceiverAnswer, ReceiverRefusal, toRefusal } from './refusal.ts';
import type { SecretEntry } from './secrets.ts';

export type ReceiverOptions = {
  readonly store: Pick<Store, 'accept'>;
  /** Entries that were validated by `examineSecrets`. */
  readonly secrets: readonly SecretEntry[];
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now'>;
  /** Largest body in bytes; default 8 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Memory limit of all large bodies together; default 32 MiB, or twice the largest body. */
  readonly budgetBytes?: number;
  /** Refused requests per minute and address that get 401; further ones get 429. Default 60. */
  readonly failuresPerMinute?: number;
  /** Called after each answer, for metrics. `reason` is `stored`, `copy`, `known`, or the guard that refused. */
  readonly onAnswer?: (status: number, reason: ReceiverAnswer) => void;
  /** Called after each new delivery that will run, to wake the worker. */
  readonly onStored?: () => void;
};

/**
 * Registers `POST /webhook`. The guards run in the order of the code, the cheapest first, and nothing is stored for an
 * answer of 4xx. 202 is sent only after the store has made the bytes durable.
 */
export async function receiver(app: FastifyInstance, options: ReceiverOptions): Promise<void> {
  const { store, log, clock = { now: () => new Date() }, onAnswer = () => {}, onStored = () => {} } = options;
  const { maxBodyBytes = defaultMaxBodyBytes } = options;
  // One address may use half of the budget, which is enough for one body of any size.
  const { budgetBytes = Math.max(32 * 2 ** 20, 2 * maxBodyBytes) } = options;
  const bodies = createBodies({ maxBytes: maxBodyBytes, budgetBytes });
  const guards = createGuards(app, {
    bodies,
    secrets: options.secrets,
    failuresPerMinute: options.failuresPerMinute ?? 60,
    clock,
    log,
  });

  const lingering = createLingering();
  app.addHook('preClose', async () => lingering.end());
  app.server.maxConnections = maxConnections;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    // Passed as a value: on an error fastify closes the connection, and a sender that is still writing never reads the answer.
    bodies.read(payload).then(
      (body) => done(null, body),
      (error) => done(null, error),
    );
  });

  app.setErrorHandler((error, request, reply) => {
    const refusal = toRefusal(error);
    if (refusal.status >= 500 && refusal.answer !== 'slow')
      log.error({ error: messageOf(error) }, 'could not accept a delivery');
    else if (refusal.answer !== 'unauthorized' && refusal.answer !== 'throttled') {
      log.warn({ address: request.ip, status: refusal.status }, `refused a delivery: ${refusal.message}`);
    }
    onAnswer(refusal.status, refusal.answer);
    lingering.add(request.raw);
    return reply.code(refusal.status).headers(refusal.headers).send({ message: refusal.message });
  });

  const others = app.supportedMethods.filter((method) => method !== 'POST');
  app.route({
    method: others,
    url: '/webhook',
    onRequest: async () => {
      throw new ReceiverRefusal(405, 'method', 'deliveries come by POST', { allow: 'POST' });
    },
    handler: () => {},
  });

  app.post('/webhook', {
    onRequest: (request, _reply, done) => {
      done(guards.refuseUnread(request));
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.body instanceof Error) throw request.body;
      // Without a body, fastify calls no parser.
      const held = request.body as HeldBody | undefined;
      try {
        const accepted = await store.accept(await guards.admit(request, held?.bytes ?? Buffer.alloc(0)));
        const status = accepted.known ? 200 : 202;
        onAnswer(status, accepted.known ? 'known' : accepted.copyOf === undefined ? 'stored' : 'copy');
        if (status === 202 && accepted.copyOf === undefined) onStored();
        return reply.code(status).header('content-type', 'application/json').send(`{"id":"${accepted.id}"}`);
      } finally {
        held?.release();
      }
    },
  });
}
