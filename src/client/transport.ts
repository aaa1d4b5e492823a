import { setTimeout as wait } from 'node:timers/promises';
import type { AnyInput, Operation } from '../contract/operation.ts';
import { messageOf, type ReeveError } from '../platform/errors.ts';
import { type Log, silentLog } from '../platform/log.ts';
import { apiRoot, redirectOf, requestUrl } from './address.ts';
import { type ForgeAnswer, forgeMessage } from './answer.ts';
import type { Credential } from './credential.ts';
import { sendRequest } from './exchange.ts';
import { forgeError, stopped, unreachable } from './failure.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { RequestLog } from './request-log.ts';
import { encodeBody } from './shape.ts';

/** What a client has counted so far, and its first requests. */
export type RequestCounts = { requests: number; denials: number; readonly log: RequestLog };

/** How a call is tried: the maximum tries of a read, what ends it, and where its requests are counted. */
export type Attempts = {
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
  readonly counts: RequestCounts;
};

type Sent = { readonly url: URL; readonly body: string | undefined; readonly attempt: number };

/** Sends a call until it is answered: repeats reads, follows redirects of reads, and renews a refused credential. */
type TransportCall = (operation: Operation, input: AnyInput, attempts: Attempts) => Promise<ForgeAnswer>;

export type TransportOptions = {
  /** URL of the forge, with or without `/api/v1`. */
  readonly url: string;
  readonly log?: Log;
  /** Timeout of one try in milliseconds, including the body; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum concurrent calls; default 8. */
  readonly concurrency?: number;
  /** Limiter shared by several clients; default: one for this client. */
  readonly limiter?: Limiter;
  /** Resolves after this time, or rejects when the signal is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** Called for every HTTP request; without a status if there was no answer. */
  readonly onRequest?:
    | ((request: { method: string; status: number | undefined; ms: number }) => void)
    | undefined;
};

type TransportParts = {
  readonly credential: Credential;
  /** Called after a request without an answer. */
  readonly onOutage: () => void;
};

/** Creates the transport to one forge. All clients that `counted` derives from one another share it. */
export function createTransport(options: TransportOptions, parts: TransportParts): TransportCall {
  const root = apiRoot(options.url);
  const { credential } = parts;
  const limiter = options.limiter ?? createLimiter({ max: options.concurrency ?? 8 });
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, signal ? { signal } : {}));
  const request = createRequest(options, { ...parts, limiter });

  return async (operation, input, attempts) => {
    const { signal, tries } = attempts;
    let url = requestUrl(root, operation, input);
    const where = `${operation.method} ${url.pathname}`;
    const body = encodeBody(operation, input);
    const mayRepeat = operation.method === 'GET';
    let isRenewed = false;
    for (let attempt = 1, hops = 0; ; ) {
      let failure: ReeveError;
      try {
        const used = credential.headers().authorization;
        const answer = await limiter.run(() => request(operation, { url, body, attempt }, attempts), signal);
        if (answer.status >= 200 && answer.status < 300) return answer;
        if (answer.status >= 300 && answer.status < 400) {
          url = redirectOf(answer, url, root, where, mayRepeat && hops < 5);
          hops += 1;
          continue;
        }
        // A refused request had no effect, so it may be repeated, even a write.
        if (answer.status === 401 && !isRenewed && credential.renew(used)) {
          isRenewed = true;
          continue;
        }
        failure = forgeError(where, answer.status, answer.text, answer.header('retry-after'), {
          redact: credential.redact,
          operation,
        });
      } catch (cause) {
        if (signal?.aborted) throw stopped(where);
        failure = unreachable(where, cause);
      }
      if (!mayRepeat || !failure.retryable || attempt >= tries) throw failure;
      const pauseMs = failure.retryAfterMs ?? 100 * 4 ** (attempt - 1);
      // For a longer pause, the queue keeps the delivery meanwhile.
      if (pauseMs > 5_000) throw failure;
      await sleep(pauseMs, signal).catch(() => {}); // Aborted: the next try says so.
      attempt += 1;
    }
  };
}

/** Creates the function that sends one HTTP request, whose body is encoded JSON. */
function createRequest(
  { log = silentLog, timeoutMs = 10_000, onRequest }: TransportOptions,
  { credential, limiter, onOutage }: TransportParts & { readonly limiter: Limiter },
): (operation: Operation, sent: Sent, attempts: Attempts) => Promise<ForgeAnswer> {
  return async (operation, { url, body, attempt }, { signal, counts }) => {
    counts.requests += 1;
    const where = `${operation.method} ${url.pathname}`;
    const started = performance.now();
    let overloaded = true;
    let status: number | undefined;
    let failure: string | undefined;
    try {
      const answer = await sendRequest({
        url,
        method: operation.method,
        where,
        headers: {
          accept: 'application/json',
          'user-agent': 'reeve',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...credential.headers(),
        },
        body,
        timeoutMs,
        signal,
      });
      status = answer.status;
      if (status === 403 || status === 404) counts.denials += 1;
      overloaded = status === 429 || status === 503;
      if (status >= 400) failure = forgeMessage(answer.text, credential.redact);
      return answer;
    } catch (error) {
      if (!signal?.aborted) onOutage();
      failure = messageOf(error).replace(`${where}: `, '');
      throw error;
    } finally {
      const ms = performance.now() - started;
      if (!signal?.aborted) limiter.observe(ms, overloaded);
      counts.log.add({ method: operation.method, url, status, ms, attempt, error: failure });
      log.debug({ operation: operation.id, ms: Math.round(ms) }, 'asked the forge');
      onRequest?.({ method: operation.method, status, ms });
    }
  };
}
