import type { Server, ServerResponse } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import type { WallClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryIntake } from '../../store/store.ts';
import { createAnswers, type ReceiverAnswer, ReceiverRefusal } from './answers.ts';
import { createBodies, type HeldBody } from './body.ts';
import { createGuards } from './guards.ts';
import type { SecretEntry } from './secrets.ts';

/** Default size limit of a body. A delivery with a larger body is lost, so the limit is configurable. */
const defaultMaxBodyBytes = 8 * 2 ** 20;

/**
 * Maximum number of connections. Further ones are closed immediately, because each uses memory before it is authorized.
 */
export const maxConnections = 2_000;

/**
 * Number of buffered bytes of a paused body at which Node stops reading from the socket. One read returns up to 64 KiB:
 * with Node's default of 64 KiB, a paused body keeps two reads in memory; with this value, one. A body that is not
 * paused buffers nothing.
 */
const pausedBytes = 16_384;

export type ReceiverLimits = {
  /** Maximum time from the first byte of a request to its last header; default 5 s. */
  readonly headersTimeoutMs?: number;
  /**
   * Maximum time from the first byte of a request to the last byte of its body; default 10 s. Fastify's default is
   * unlimited.
   */
  readonly requestTimeoutMs?: number;
  /** Interval at which both limits are checked; default 1 s. */
  readonly checkingIntervalMs?: number;
};

/**
 * Returns the options for the Fastify server on which the receiver is registered. Requests with slow headers or bodies
 * end with 408.
 */
export function serverOptions(limits: ReceiverLimits = {}): FastifyHttpOptions<Server> {
  const { headersTimeoutMs = 5_000, requestTimeoutMs = 10_000, checkingIntervalMs = 1_000 } = limits;
  return {
    requestTimeout: requestTimeoutMs,
    // Behind a proxy, failures count against the proxy's address, because the sender could choose a forwarded address.
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
  /** Entries validated by `examineSecrets`. */
  readonly secrets: readonly SecretEntry[];
  readonly log: Log;
  readonly clock?: WallClock;
  /** Largest body in bytes; default 8 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Memory limit of all large bodies together; default 32 MiB, or twice the largest body. */
  readonly budgetBytes?: number;
  /** Number of refused requests per minute and address that get 401; further ones get 429. Default 60. */
  readonly failuresPerMinute?: number;
  /** Called before each response, for metrics. `reason` is `stored`, `copy`, `known`, or the guard that refused. */
  readonly onAnswer?: (status: number, reason: ReceiverAnswer) => void;
  /** Called after each new delivery that will run, to wake the worker. */
  readonly onStored?: () => void;
};

/**
 * Registers `POST /webhook`. The guards run in code order, the cheapest first, and a delivery with a 4xx response is
 * not stored. 202 is sent only after the store has made the bytes durable.
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

  // Fastify only routes the request; the receiver reads and answers it itself. Fastify's parsers and serializers cost
  // CPU time per delivery, and on an error Fastify closes a connection whose sender is still writing.
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
        new ReceiverRefusal(405, 'method', 'deliveries must be sent with POST', { allow: 'POST' }),
      );
    },
    handler: answeredInHook,
  });
}

/** Handler that Fastify requires, although the earlier hook has already sent the response. */
const answeredInHook = (): void => {};
