import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { ReeveError } from '../platform/errors.ts';

/** Maximum bytes of an answer: the largest list page of a forge is far below. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** One HTTP request. `where` names it in errors. */
type HttpRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** When aborted, closes the connection and rejects with the signal's reason, also while the body arrives. */
  readonly signal: AbortSignal;
  /** Maximum bytes of the answer's body. */
  readonly maxBytes?: number | undefined;
};

/** A complete answer. `status` is 200 to 599. */
type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/**
 * Sends a request over a connection that is kept for the next one, and reads the whole answer, up to the limit: an endless answer costs
 * one buffer, not the process. Follows no redirect. Rejects with the error of the connection, the signal's reason, or `forge-unexpected`.
 *
 * Not `fetch`, which needs three times the processor time: docs/decisions.md, Requests beside fetch.
 */
export function sendOverHttp({
  url,
  method,
  headers,
  body,
  signal,
  ...how
}: HttpRequest): Promise<HttpAnswer> {
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
      readText(answer, { ...how, signal }).then((text) => {
        const { statusCode: status = 0, headers } = answer;
        resolve({ status, headers, text });
      }, reject);
    });
    sent.end(body);
  }).finally(() => signal.removeEventListener('abort', stop));
}

function readText(
  answer: IncomingMessage,
  { where, signal, maxBytes = maxAnswerBytes }: Pick<HttpRequest, 'where' | 'signal' | 'maxBytes'>,
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
      if (size > maxBytes) refuse(`the answer is over ${maxBytes} bytes`);
      else pieces.push(piece);
    });
    answer.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
    // Node reports the loss of the connection, whatever ended it.
    answer.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  });
}
