import { type LookupAddress, lookup as lookUp } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ReeveError } from '../errors.ts';
import { mayWrite } from '../write-gate.ts';
import {
  createReachableHosts,
  hostOfUrl,
  type PermittedAddresses,
  type ReachableHosts,
} from './reachable-hosts.ts';

/** A message to a receiver that is not the forge. */
export type Message = {
  /** URL of the receiver: a secret. */
  readonly url: string;
  /** Name of that secret, for errors. */
  readonly secret: string;
  /** `GET` sends no content; default: POST. */
  readonly method?: 'GET';
  readonly contentType: string;
  readonly content: string;
  /** Same for every try of one message, so that the receiver can drop duplicates. */
  readonly id: string;
};

/**
 * Sends a message at least once. Rejects with `message-refused` if no further try can succeed, and with
 * `message-unsent` if a later one may; neither error contains any part of the URL. Once the signal is aborted, tries
 * and waits end with `stopped`.
 */
export type SendMessage = (message: Message, signal?: AbortSignal) => Promise<void>;

export type MessageSenderOptions = PostTransport & {
  /** Hosts that may have private addresses and do not need TLS: names, addresses, networks. */
  readonly hosts: readonly string[];
  /** Timeout of one try in milliseconds; default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Resolves after this time, or rejects when the signal is aborted. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<unknown>) | undefined;
};

const maxTries = 3;
/** Longest pause between two tries. A longer one is left to the queue, which keeps the delivery meanwhile. */
const maxPauseMs = 5_000;

/** Creates the sender. It tries a message three times before the queue retries the delivery. */
export function createMessageSender({
  hosts: listed,
  timeoutMs = 10_000,
  sleep = (ms, ended) => wait(ms, undefined, ended ? { signal: ended } : {}),
  ...options
}: MessageSenderOptions): SendMessage {
  const hosts = createReachableHosts(listed);
  return async (message, signal) => {
    await mayWrite(signal);
    for (let attempt = 1; ; attempt += 1) {
      const failure = await trySending(message, { ...options, hosts, timeoutMs, signal });
      if (failure === undefined) return;
      const pauseMs = failure.retryAfterMs ?? 500 * 4 ** (attempt - 1);
      if (!failure.retryable || attempt === maxTries || pauseMs > maxPauseMs) throw failure;
      await sleep(pauseMs, signal).catch(() => {}); // Aborted: the next try reports it.
    }
  };
}

const hostsRemedy = 'the operator file lists hosts under notify-hosts';

/** Options of `testReceiver`. */
export type ReceiverTestOptions = Pick<PostTransport, 'lookup'> & {
  /** See `MessageSenderOptions`. */
  readonly hosts: readonly string[];
  /** Maximum duration of one lookup in milliseconds; default 5,000. */
  readonly timeoutMs?: number | undefined;
};

/**
 * Returns why messages cannot be sent to a URL, without any part of the URL; undefined if nothing speaks against it:
 * the rules about hosts allow it, and its name resolves. Opens no connection to the receiver.
 */
export async function testReceiver(
  url: string,
  { hosts: listed, timeoutMs = 5_000, lookup = lookUp }: ReceiverTestOptions,
): Promise<string | undefined> {
  if (!URL.canParse(url)) return 'it is not a URL';
  const hosts = createReachableHosts(listed);
  try {
    const host = hostOfUrl(new URL(url));
    requirePermitted(new URL(url), hosts);
    if (isIP(host) !== 0) return undefined;
    const resolve = hosts.isListed(host) ? lookup : createCheckedLookup(hosts, lookup);
    await withTimeout(timeoutMs, (done) => resolve(host, { all: true }, done));
    return undefined;
  } catch (error) {
    if (error instanceof HostRefused) return `${error.message}; ${hostsRemedy}`;
    // The message of a system error contains the host; its code does not.
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    return `its name cannot be resolved (${code})`;
  }
}

/** Waits for a callback with an error. Rejects with the code `ETIMEDOUT` after the time. */
async function withTimeout(
  timeoutMs: number,
  start: (done: (error: NodeJS.ErrnoException | null) => void) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = (): void => reject(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
  const timer = setTimeout(late, timeoutMs);
  try {
    start((error) => (error ? reject(error) : resolve()));
    await promise;
  } finally {
    clearTimeout(timer);
  }
}

type SendingTry = PostOptions & { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** Sends the message once, and returns the error if it was not accepted. */
async function trySending(
  { url, secret, contentType, content, id, method }: Message,
  { timeoutMs, signal, ...options }: SendingTry,
): Promise<ReeveError | undefined> {
  const name = `{secret: ${secret}}`;
  if (!URL.canParse(url)) return new ReeveError('message-refused', `${name} is not a URL`);
  const stopped = (): ReeveError => new ReeveError('stopped', `${name}: the message was stopped`);
  if (signal?.aborted) throw stopped();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const stop = (): void => deadline.abort();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const headers = { 'User-Agent': 'reeve', 'Idempotency-Key': id };
    const posted = method === 'GET' ? undefined : { contentType, content };
    const request = { url: new URL(url), headers, posted, signal: deadline.signal };
    const answer = await sendOnce(request, options);
    return failureOf(name, answer);
  } catch (error) {
    if (error instanceof HostRefused)
      return new ReeveError('message-refused', `${name} cannot be reached: ${error.message}; ${hostsRemedy}`);
    // System error messages contain the host; their codes do not. For the same reason, `cause` is not set.
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    if (signal?.aborted) throw stopped();
    const why = deadline.signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : code;
    return new ReeveError('message-unsent', `${name} cannot be reached: ${why}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function failureOf(
  name: string,
  { status, retryAfter }: { readonly status: number; readonly retryAfter: string | undefined },
): ReeveError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const answered = `the receiver ${name} answered ${status}`;
  if (status >= 500 || status === 408 || status === 425 || status === 429)
    return new ReeveError('message-unsent', answered, { retryAfterMs: parseRetryAfterMs(retryAfter) });
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return new ReeveError('message-refused', `${answered}${redirect}`);
}

/** Longest pause that a receiver may request. */
const maxRetryAfterMs = 2 * 3_600_000;

/** Parses seconds only; a date depends on the receiver's clock, which may be wrong. */
function parseRetryAfterMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text)
    ? Math.min(Number(text) * 1_000, maxRetryAfterMs)
    : undefined;
}

/** Maximum number of response bytes that are read; the content is ignored. */
const maxAnswerBytes = 64 * 1024;

/**
 * Thrown before a connection is opened, if the host of a request is not allowed. The message never contains the host.
 */
export class HostRefused extends Error {}

type SentRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of a POST request; absent: a GET request. */
  readonly posted: Pick<Message, 'contentType' | 'content'> | undefined;
  /** Aborts the whole exchange: lookup, connecting, sending, reading. */
  readonly signal: AbortSignal;
};

type PostAnswer = { readonly status: number; readonly retryAfter: string | undefined };

type PostOptions = PostTransport & { readonly hosts: ReachableHosts };

/** Options of the connection. */
type PostTransport = {
  /** CA certificates to trust instead of the standard ones. */
  readonly ca?: string | undefined;
  /** Resolves a host name; default: the system's resolver. */
  readonly lookup?: typeof lookUp | undefined;
};

/**
 * Sends a request once and returns the response status. Follows no redirect. Every address that a host name resolves to is
 * checked while the connection is opened, and only checked addresses are connected to, so a name cannot resolve to a
 * public address for the check and to a private one for the request (DNS rebinding).
 */
async function sendOnce({ url, posted, ...sent }: SentRequest, options: PostOptions): Promise<PostAnswer> {
  const { hosts, ca, lookup = lookUp } = options;
  const host = hostOfUrl(url);
  requirePermitted(url, hosts);
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  const length = Buffer.byteLength(posted?.content ?? '');
  const about = posted && { 'Content-Type': posted.contentType, 'Content-Length': String(length) };
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: posted === undefined ? 'GET' : 'POST',
    // No keep-alive: a kept-alive connection may lead to an address that is no longer allowed.
    agent: false,
    signal: sent.signal,
    headers: { ...sent.headers, ...about },
    lookup: hosts.isListed(host) ? lookup : createCheckedLookup(hosts, lookup),
    ...(ca === undefined ? {} : { ca }),
  });
  let fail: (error: Error) => void = reject;
  request.on('error', (error) => fail(error));
  request.on('response', (response) => {
    const { 'retry-after': retryAfter } = response.headers;
    // The status decides; a truncated or endless body does not change the result.
    const finish = (): void => resolve({ status: response.statusCode ?? 0, retryAfter });
    fail = finish;
    let bytes = 0;
    response.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxAnswerBytes) response.destroy();
    });
    response.on('error', finish);
    response.on('close', finish);
  });
  request.end(posted?.content);
  return promise;
}

/** Throws `HostRefused` if a URL needs TLS, or if its host is an address that is not permitted. */
function requirePermitted(url: URL, hosts: ReachableHosts): void {
  const host = hostOfUrl(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && hosts.isListed(host)))
    throw new HostRefused('it is not an https: URL, and its host is not listed');
  // IP addresses need no lookup.
  if (isIP(host) !== 0 && !hosts.permits(host))
    throw new HostRefused('its address is not public, and not listed');
}

/** Returns a lookup that fails unless every address of the name is allowed. */
export function createCheckedLookup(
  hosts: PermittedAddresses,
  lookup: typeof lookUp = lookUp,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const [first] = found;
      if (first === undefined) return callback(new Error('the name has no address'), '', 0);
      if (!found.every(({ address }) => hosts.permits(address)))
        return callback(
          new HostRefused('its name resolves to an address that is not public, and not listed'),
          '',
          0,
        );
      // Node requests all addresses when it tries them one after another.
      const answer = callback as (error: null, found: string | LookupAddress[], family?: number) => void;
      return options.all ? answer(null, found) : answer(null, first.address, first.family);
    });
  };
}
