import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { ReeveError } from '../platform/errors.ts';
import { type ForgeAnswer, stopped, unreachable } from './failure.ts';

/** One HTTP request. `where` names it in errors. */
type ClientRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Timeout of the whole exchange in milliseconds, including the response body. */
  readonly timeoutMs: number;
  /** When aborted, ends the exchange with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Sends one request to the API and returns its response, whatever its status. Follows no redirect: a write, or custom
 * headers, would be sent to another server. Rejects with `stopped`, `forge-timeout`, `forge-unreachable` or
 * `forge-unexpected`; the error contains no part of the request.
 *
 * The only hand-written HTTP of the client. Every event passes here several times, and with ky and `fetch` an event
 * takes 1.6 times the processor time: docs/decisions.md, Requests beside ky. ky sends the other requests to the forge.
 */
export async function sendRequest({
  url,
  where,
  signal,
  timeoutMs,
  ...sent
}: ClientRequest): Promise<ForgeAnswer> {
  if (signal?.aborted) throw stopped(where);
  // Not AbortSignal.timeout or AbortSignal.any: they live as long as their timeout or sources, which are thousands
  // under load.
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('timed out', 'TimeoutError')), timeoutMs);
  const stop = (): void => deadline.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const { status, headers, text } = await sendOverHttp({ url, where, ...sent, signal: deadline.signal });
    return { status, header: (name) => headers[name]?.toString() ?? null, text };
  } catch (thrown) {
    throw signal?.aborted ? stopped(where) : unreachable(where, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Maximum bytes of a response; the largest list page of a forge is far smaller. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * A request whose signal, when aborted, closes the connection and rejects with its reason, even while the body arrives.
 */
type HttpRequest = Omit<ClientRequest, 'timeoutMs' | 'signal'> & { readonly signal: AbortSignal };

/** A complete response. `status` is 200 to 599. */
type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/**
 * Sends a request over a keep-alive connection, and reads the whole response, up to the limit: an endless response
 * costs one buffer, not the process. Follows no redirect. Rejects with the error of the connection, the signal's
 * reason, or `forge-unexpected`.
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

function readText(answer: IncomingMessage, { where, signal }: HttpRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void => {
      reject(new ReeveError('forge-unexpected', `${where}: ${why}`));
      answer.destroy();
    };
    const { statusCode = 0 } = answer;
    if (statusCode < 200 || statusCode > 599) refuse(`the response has the status ${statusCode}`);
    const pieces: Buffer[] = [];
    let size = 0;
    answer.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > maxAnswerBytes) refuse(`the response exceeds ${maxAnswerBytes} bytes`);
      else pieces.push(piece);
    });
    answer.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
    // Node reports the loss of the connection, whatever caused it.
    answer.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  });
}
