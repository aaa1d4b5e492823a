import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
  const guards = createGuards({
    bodies,
    secrets: options.secrets,
    failuresPerMinute: options.failuresPerMinute ?? 60,
    clock,
    log,
  });

  const lingering = createLingering();
  app.addHook('preClose', async () => lingering.end());
  app.server.maxConnections = maxConnections;

  const refuse = (request: FastifyRequest, response: ServerResponse, error: unknown): void => {
    const refusal = toRefusal(error);
    if (refusal.status >= 500 && refusal.answer !== 'slow')
      log.error({ error: messageOf(error) }, 'could not accept a delivery');
    else if (refusal.answer !== 'unauthorized' && refusal.answer !== 'throttled') {
      log.warn({ address: request.ip, status: refusal.status }, `refused a delivery: ${refusal.message}`);
    }
    onAnswer(refusal.status, refusal.answer);
    lingering.add(request.raw);
    send(response, refusal.status, JSON.stringify({ message: refusal.message }), refusal.headers);
  };

  const receive = async (request: FastifyRequest, response: ServerResponse): Promise<void> => {
    let held: HeldBody | undefined;
    try {
      const authorization = guards.examineHeaders(request);
      held = await bodies.read(request.raw);
      const accepted = await store.accept(await guards.admit(request, authorization, held.bytes));
      const status = accepted.known ? 200 : 202;
      onAnswer(status, accepted.known ? 'known' : accepted.copyOf === undefined ? 'stored' : 'copy');
      if (status === 202 && accepted.copyOf === undefined) onStored();
      send(response, status, `{"id":"${accepted.id}"}`);
    } catch (error) {
      refuse(request, response, error);
    } finally {
      held?.release();
    }
  };

  // Fastify routes the request; from there on the receiver reads and answers it itself. Fastify's own way through parsers
  // and serializers costs a tenth of a delivery, and on an error it closes a connection whose sender is still writing.
  app.post('/webhook', {
    onRequest: (request, reply) => {
      reply.hijack();
      void receive(request, reply.raw);
    },
    handler: answeredInHook,
  });
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'POST'),
    url: '/webhook',
    onRequest: (request, reply) => {
      reply.hijack();
      refuse(
        request,
        reply.raw,
        new ReceiverRefusal(405, 'method', 'deliveries come by POST', { allow: 'POST' }),
      );
    },
    handler: answeredInHook,
  });
}

/** Fastify requires a handler; the hook before it answers. */
const answeredInHook = (): void => {};

/** Sends an answer of JSON. `json` is ASCII, except in messages of errors. */
function send(
  response: ServerResponse,
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    ...headers,
  });
  response.end(json);
}
