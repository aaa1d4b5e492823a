import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import ky from 'ky';
import { ReeveError } from '../platform/errors.ts';
import { type ForgeAnswer, stopped, unreachable } from './failure.ts';

/** One HTTP request. `where` names it in errors. */
type ClientRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | undefined;
  /** Timeout of the whole exchange in milliseconds, including the response body. */
  readonly timeoutMs: number;
  /** Maximum bytes of the response body; default: 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** When aborted, ends the exchange with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

const formType = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };

/**
 * Sends one request and returns its answer, whatever its status. Follows no redirect: a write, or custom headers, would be
 * sent to another server. Rejects with `stopped`, `forge-timeout`, `forge-unreachable` or `forge-unexpected`; the error
 * contains no part of the request.
 */
export async function sendRequest({ url, where, signal, ...sent }: ClientRequest): Promise<ForgeAnswer> {
  if (signal?.aborted) throw stopped(where);
  // Not AbortSignal.timeout or AbortSignal.any: they live as long as their timeout or sources, which are thousands
  // under load.
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new DOMException('timed out', 'TimeoutError')),
    sent.timeoutMs,
  );
  const stop = (): void => deadline.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    let text = '';
    let heads: IncomingHttpHeaders = {};
    const body = sent.body?.toString();
    const { status } = await ky(url, {
      method: sent.method.toLowerCase(),
      headers: sent.body instanceof URLSearchParams ? { ...sent.headers, ...formType } : sent.headers,
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      // The timeout of ky ends with the response headers; this one also covers a body that never arrives.
      timeout: false,
      credentials: 'omit',
      // Bodies bypass Request and Response, which would turn them into streams.
      async fetch(request) {
        // Aborted since the call: no further event is emitted.
        deadline.signal.throwIfAborted();
        const { method, headers } = request as Request;
        const { maxBytes } = sent;
        const answer = await sendOverHttp({
          url,
          method,
          where,
          headers: Object.fromEntries(headers),
          body,
          signal: deadline.signal,
          maxBytes,
        });
        text = answer.text;
        heads = answer.headers;
        return new Response(null, { status: answer.status });
      },
    });
    return { status, header: (name) => heads[name]?.toString() ?? null, text };
  } catch (thrown) {
    throw signal?.aborted ? stopped(where) : unreachable(where, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Maximum bytes of a response: the largest list page of a forge is far below. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** One HTTP request. `where` names it in errors. */
type HttpRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** When aborted, closes the connection and rejects with the signal's reason, even while the body arrives. */
  readonly signal: AbortSignal;
  /** Maximum bytes of the response body. */
  readonly maxBytes?: number | undefined;
};

/** A complete answer. `status` is 200 to 599. */
type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/**
 * Sends a request over a keep-alive connection, and reads the whole answer, up to the limit: an endless answer costs one
 * buffer, not the process. Follows no redirect. Rejects with the error of the connection, the signal's reason, or
 * `forge-unexpected`.
 *
 * Not `fetch`, which needs three times the processor time: docs/decisions.md, Requests beside fetch.
 */
function sendOverHttp(request: HttpRequest): Promise<HttpAnswer> {
  const { url, method, headers, body, signal } = request;
  const sent = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    // Node would send the body of a DELETE without its length.
    headers: body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) },
  });
  const stop = (): void => void sent.destroy(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  // Not Promise.withResolvers: the CI action runs on Node 20, too.
  return new Promise<HttpAnswer>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (answer) => {
      readText(answer, request).then((text) => {
        const { statusCode: status = 0, headers } = answer;
        resolve({ status, headers, text });
      }, reject);
    });
    sent.end(body);
  }).finally(() => signal.removeEventListener('abort', stop));
}

function readText(
  answer: IncomingMessage,
  { where, signal, maxBytes = maxAnswerBytes }: HttpRequest,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void => {
      reject(new ReeveError('forge-unexpected', `${where}: ${why}`));
      answer.destroy();
    };
    const { statusCode = 0 } = answer;
    if (statusCode < 200 || statusCode > 599) refuse(`the answer has the status ${statusCode}`);
    const pieces: Buffer[] = [];
    let size = 0;
    answer.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > maxBytes) refuse(`the answer exceeds ${maxBytes} bytes`);
      else pieces.push(piece);
    });
    answer.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
    // Node reports the loss of the connection, whatever caused it.
    answer.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  });
}
