import { IncomingMessage, type ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { BodyError, release } from './body.ts';

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
  | 'probe'
  | 'scope'
  | 'unavailable'
  | 'internal';

/** Refusal of a request. Guards throw it; `refuse` sends the response. */
export class ReceiverRefusal extends Error {
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

const answerOfBody = { 400: 'malformed', 413: 'size', 503: 'slow' } as const;

/** Returns the refusal for an error thrown by a guard, the body reader or the store. */
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

/** Sends the responses of the receiver, without Fastify's reply. */
export interface ReceiverAnswers {
  /** Sends a JSON response. */
  send(
    response: ServerResponse,
    status: number,
    json: string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** Logs, counts and sends the refusal for an error thrown by a guard, the body reader or the store. */
  refuse(request: FastifyRequest, response: ServerResponse, error: unknown): void;
}

/** Creates the response writer for requests to this server. */
export function createAnswers(
  app: FastifyInstance,
  options: { readonly log: Log; readonly onAnswer: (status: number, reason: ReceiverAnswer) => void },
): ReceiverAnswers {
  const { log, onAnswer } = options;
  const lingering = createLingering();
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    lingering.end();
  });

  const send: ReceiverAnswers['send'] = (response, status, json, headers) => {
    // A kept-alive connection would delay the shutdown.
    if (isClosing) response.shouldKeepAlive = false;
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
      ...headers,
    });
    // Ids are digits, so Latin-1 suffices and avoids a second pass over the text, which matters at the rate of
    // deliveries.
    response.end(json, status < 300 ? 'latin1' : 'utf8');
  };

  return {
    send,
    refuse(request, response, error) {
      const refusal = toRefusal(error);
      if (refusal.status >= 500 && refusal.answer !== 'slow')
        log.error({ error: messageOf(error) }, 'could not accept a delivery');
      else if (refusal.answer === 'probe') {
        log.info({ address: request.ip }, 'setup or doctor asked whether these secrets are known here');
      } else if (refusal.answer !== 'unauthorized' && refusal.answer !== 'throttled') {
        log.warn({ address: request.ip, status: refusal.status }, `refused a delivery: ${refusal.message}`);
      }
      onAnswer(refusal.status, refusal.answer);
      lingering.add(request.raw);
      send(response, refusal.status, JSON.stringify({ message: refusal.message }), refusal.headers);
    },
  };
}

/** Limits for reading refused bodies. */
type LingerLimits = {
  /** How long a refused body is read so that its sender receives the response. Forges give up after five seconds. */
  readonly lingerMs: number;
  /**
   * Maximum bytes read from all refused bodies together per turn (20 ms), so that refused senders cannot keep the
   * process busy.
   */
  readonly turnBytes: number;
  /**
   * Maximum bytes read from one refused body. After that, the sender has to stop, and receives the response only if it
   * reads while it writes.
   */
  readonly lingerBytes: number;
};

const standardLimits: LingerLimits = { lingerMs: 5_000, turnBytes: 2 * 2 ** 20, lingerBytes: 64 * 2 ** 20 };

const turnMs = 20;
/** Minimum number of bytes read from one body per turn: the amount that Node reads from a socket at once. */
const leastBytes = 65_536;

/** Refused requests whose bodies are still arriving. */
export interface Lingering {
  /**
   * Reads and discards the rest of a refused body, and closes the connection if the body does not end in time. If the
   * connection were closed immediately, the kernel would reset it, and the sender would get "connection reset" instead
   * of the response.
   */
  add(request: IncomingMessage): void;
  /** Closes the connections of refused requests. They are not idle, so they would delay the shutdown of the server. */
  end(): void;
}

/** Creates an empty set of refused requests. */
export function createLingering({
  lingerMs,
  turnBytes,
  lingerBytes,
}: LingerLimits = standardLimits): Lingering {
  /** Bytes that each request may still read in this turn. The order of the entries is the order of the turns. */
  const rest = new Map<IncomingMessage, number>();
  const requests = new Set<IncomingMessage>();
  let timer: NodeJS.Timeout | undefined;

  const takeTurns = (): void => {
    const share = Math.max(turnBytes / rest.size, leastBytes);
    for (const request of [...rest.keys()].slice(0, turnBytes / share)) {
      rest.delete(request);
      rest.set(request, share);
      request.resume();
    }
    if (rest.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  return {
    add(request) {
      // A request injected by a test is never marked complete.
      if (request.complete || request.readableEnded || request.destroyed) return;
      const deadline = setTimeout(() => request.destroy(), lingerMs);
      deadline.unref();
      const stop = (): void => {
        clearTimeout(deadline);
        requests.delete(request);
        rest.delete(request);
      };
      let read = 0;
      request.on('data', (chunk: Buffer) => {
        read += chunk.length;
        const left = (rest.get(request) ?? 0) - chunk.length;
        if (request instanceof IncomingMessage) release(chunk);
        if (read > lingerBytes) rest.delete(request);
        else rest.set(request, left);
        if (left <= 0 || read > lingerBytes) request.pause();
      });
      // The request is answered; errors of its connection are ignored.
      request
        .on('error', () => {})
        .on('end', stop)
        .on('close', stop);
      requests.add(request);
      rest.set(request, 0);
      request.resume();
      timer ??= setInterval(takeTurns, turnMs).unref();
    },
    end() {
      for (const request of requests) request.destroy();
    },
  };
}
