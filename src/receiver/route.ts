import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { type EventHeaders, readEventHeaders } from '../contract/events/event-headers.ts';
import { laneOf, parseDelivery } from '../contract/events/events.ts';
import { parsePayload } from '../contract/events/parse-payload.ts';
import { messageOf, ReeveError } from '../errors.ts';
import { createFailureThrottle } from '../http/failure-throttle.ts';
import type { Log } from '../log.ts';
import type { Accepted, Route, Store } from '../store/store.ts';
import { createHeaderCheck, digestOfAuthorization } from './authorization.ts';
import { BodyError, createBodies, type HeldBody } from './body.ts';
import { defaultMaxBodyBytes, maxConnections } from './limits.ts';
import { createLingering } from './linger.ts';
import type { SecretEntry } from './secrets.ts';
import { createVerify, type VerifiedEntry } from './verify.ts';

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

/** Result of a request. */
export type ReceiverAnswer =
  | 'stored'
  | 'copy'
  | 'known'
  | 'method'
  | 'type'
  | 'size'
  | 'slow'
  | 'unauthorized'
  | 'throttled'
  | 'malformed'
  | 'scope'
  | 'unavailable'
  | 'internal';

/** Refusal of a request: thrown by a guard, answered in one place. */
class ReceiverRefusal extends Error {
  readonly status: number;
  readonly answer: ReceiverAnswer;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, answer: ReceiverAnswer, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.answer = answer;
    this.headers = headers;
  }
}

/** Decorator of a request for the digest of its `Authorization` header, which is computed once. */
const authorizationDigest = 'authorizationDigest';

const types: ReadonlySet<string> = new Set(['application/json', 'application/x-www-form-urlencoded']);

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
  const verify = createVerify(options.secrets);
  const mayPass = createHeaderCheck(options.secrets);
  const throttle = createFailureThrottle({ perMinute: options.failuresPerMinute ?? 60, clock });

  const unauthorized = (request: FastifyRequest, failed: object): ReceiverRefusal => {
    if (throttle.recordFailure(request.ip)) {
      return new ReceiverRefusal(429, 'throttled', 'too many refused requests', { 'retry-after': '60' });
    }
    log.warn({ address: request.ip, failed }, 'refused a delivery: no entry of secrets passes');
    return new ReceiverRefusal(401, 'unauthorized', 'not authorized');
  };

  /** Returns why the request is refused before its body is read; undefined if the body has to be read. */
  const refuseUnread = (request: FastifyRequest): ReceiverRefusal | undefined => {
    const isPlain = (request.headers['content-encoding'] ?? 'identity') === 'identity';
    if (!isPlain || !types.has(eventTypeOf(request))) {
      return new ReceiverRefusal(415, 'type', 'the body must be application/json or a form, not compressed');
    }
    const tooLarge = bodies.refuse(request.raw);
    if (tooLarge !== undefined) return toRefusal(tooLarge);
    const given = digestOfAuthorization(request.headers);
    request.setDecorator(authorizationDigest, given);
    return mayPass(given) ? undefined : unauthorized(request, { guard: 'authorization' });
  };

  const receive = async (request: FastifyRequest, bytes: Buffer): Promise<Accepted> => {
    const receivedAt = clock.now();
    const contentType = eventTypeOf(request);
    const body = contentType === 'application/json' ? bytes : payloadOfForm(bytes);
    const { verifiedEntries, failed } = await verify(
      request.headers,
      body,
      request.getDecorator<Buffer>(authorizationDigest),
    );
    if (verifiedEntries.length === 0) throw unauthorized(request, failed);
    const headers = readHeaders(request);
    const { verifiedEntry, route } = examineRequest(verifiedEntries, headers, body);
    const delivery = {
      uuid: headers.delivery,
      eventType: headers.eventType,
      entry: verifiedEntry.name,
      contentType,
      receivedAt,
      body,
    };
    return store.accept(route === undefined ? delivery : { ...delivery, route });
  };

  const lingering = createLingering();
  app.addHook('preClose', async () => lingering.end());
  app.server.maxConnections = maxConnections;
  app.decorateRequest(authorizationDigest);
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
      done(refuseUnread(request));
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.body instanceof Error) throw request.body;
      // Without a body, fastify calls no parser.
      const held = request.body as HeldBody | undefined;
      try {
        const accepted = await receive(request, held?.bytes ?? Buffer.alloc(0));
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

/** Parses the body if a verifying entry requires it; returns the entry that covers the delivery. */
function examineRequest(
  verifiedEntries: readonly VerifiedEntry[],
  headers: EventHeaders,
  body: Buffer,
): { verifiedEntry: VerifiedEntry; route: Route | undefined } {
  const trusted = verifiedEntries.find((verifiedEntry) => verifiedEntry.isTrustedUnread);
  if (trusted !== undefined) return { verifiedEntry: trusted, route: undefined };
  const event = parseDelivery(headers.eventType, parsePayload(body));
  const { repository } = event;
  const fullName = repository === undefined ? undefined : `${repository.owner}/${repository.name}`;
  const verifiedEntry = verifiedEntries.find((each) => each.covers(fullName));
  if (verifiedEntry === undefined) {
    throw new ReceiverRefusal(
      403,
      'scope',
      `${fullName ?? 'an event without a repository'} is outside the scope`,
    );
  }
  const lane = laneOf(event);
  if (repository === undefined || fullName === undefined) return { verifiedEntry, route: { lane } };
  return { verifiedEntry, route: { lane, repositoryId: repository.id, repository: fullName } };
}

/** Printable and of limited length, because these headers are stored, searched and shown. */
const plainHeader = /^[\x21-\x7e]{1,200}$/;

function readHeaders(request: FastifyRequest): EventHeaders {
  const headers = readEventHeaders(request.headers);
  if (headers === undefined || !plainHeader.test(headers.delivery) || !plainHeader.test(headers.eventType)) {
    throw new ReceiverRefusal(400, 'malformed', 'the headers do not name a delivery and its event type');
  }
  return headers;
}

function eventTypeOf(request: FastifyRequest): string {
  const type = request.headers['content-type'] ?? '';
  const end = type.indexOf(';');
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}

/** Returns the JSON inside a form, which is the signed text; empty if missing. */
function payloadOfForm(bytes: Buffer): Buffer {
  return Buffer.from(new URLSearchParams(bytes.toString('utf8')).get('payload') ?? '');
}

const answerOfBody = { 400: 'malformed', 413: 'size', 503: 'slow' } as const;

function toRefusal(error: unknown): ReceiverRefusal {
  if (error instanceof ReceiverRefusal) return error;
  if (error instanceof BodyError) {
    return new ReceiverRefusal(error.status, answerOfBody[error.status], error.message);
  }
  if (!(error instanceof ReeveError))
    return new ReceiverRefusal(500, 'internal', 'internal error: see the log');
  if (error.http === 400) return new ReceiverRefusal(400, 'malformed', error.message);
  const seconds = Math.max(Math.ceil((error.retryAfterMs ?? 5_000) / 1_000), 1);
  return new ReceiverRefusal(503, 'unavailable', 'the store is not available', {
    'retry-after': String(seconds),
  });
}
