import type { Server, ServerResponse } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import type { WallClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryIntake } from '../../store/store.ts';
import { createAnswers, type ReceiverAnswer, ReceiverRefusal } from './answers.ts';
import { createBodies, type HeldBody } from './body.ts';
import { createGuards } from './guards.ts';
import type { SecretEntry } from './secrets.ts';

/** Default size limit of a body. A larger body is a lost event, so the limit is configurable. */
const defaultMaxBodyBytes = 8 * 2 ** 20;

/** Connections beyond this number are closed immediately: each uses memory before it is authorized. */
export const maxConnections = 2_000;

/**
 * Buffered bytes of a paused body at which Node stops reading from its socket. One read has up to 64 KiB: with Node's default of
 * 64 KiB, a paused body keeps two reads in memory, with this value one. A body that is not paused buffers nothing.
 */
const pausedBytes = 16_384;

export type ReceiverLimits = {
  /** Time from the first byte of a request to its last header; default 5 s. */
  readonly headersTimeoutMs?: number;
  /** Time from the first byte of a request to the last of its body; default 10 s. Fastify's own default is unlimited. */
  readonly requestTimeoutMs?: number;
  /** Interval of the check of both; default 1 s. */
  readonly checkingIntervalMs?: number;
};

/**
 * Returns the options for the fastify server that the receiver is registered on: slow headers and bodies end with 408.
 */
export function serverOptions(limits: ReceiverLimits = {}): FastifyHttpOptions<Server> {
  const { headersTimeoutMs = 5_000, requestTimeoutMs = 10_000, checkingIntervalMs = 1_000 } = limits;
  return {
    requestTimeout: requestTimeoutMs,
    // Behind a proxy, failures count for the proxy's address: a forwarded address could be chosen by the sender.
    trustProxy: false,
    routerOptions: { ignoreTrailingSlash: false },
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkingIntervalMs,
      highWaterMark: pausedBytes,
    },
  };
}

export type ReceiverOptions = {
  readonly store: Pick<DeliveryIntake, 'accept'>;
  /** Entries that were validated by `examineSecrets`. */
  readonly secrets: readonly SecretEntry[];
  readonly log: Log;
  readonly clock?: WallClock;
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

  app.server.maxConnections = maxConnections;
  const { send, refuse } = createAnswers(app, { log, onAnswer });

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
  // and serializers costs processor time per delivery, and on an error it closes a connection whose sender is still writing.
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
