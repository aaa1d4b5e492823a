import type { IncomingHttpHeaders } from 'node:http';
import ky from 'ky';
import type { ForgeAnswer } from './answer.ts';
import { stopped, unreachable } from './failure.ts';
import { sendOverHttp } from './kept-connection.ts';

/** One HTTP request. `where` names it in errors. */
type ClientRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | undefined;
  /** Timeout of the whole exchange in milliseconds, including the body of the answer. */
  readonly timeoutMs: number;
  /** Maximum bytes of the answer's body; default: 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** When aborted, ends the exchange with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

const formType = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };

/**
 * Sends one request and returns its answer, whatever its status. Follows no redirect: a write, or custom headers, would be sent
 * to another server. Rejects with `stopped`, `forge-timeout`, `forge-unreachable` or `forge-unexpected`; the
 * error contains no part of the request.
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
      // The timeout of ky ends with the headers of the answer; this one includes a body that never arrives.
      timeout: false,
      credentials: 'omit',
      // Bodies pass beside Request and Response, which would make streams of them.
      async fetch(request) {
        // Aborted since the call: no event comes any more.
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
