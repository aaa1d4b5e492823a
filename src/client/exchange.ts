import ky from 'ky';
import { type ForgeAnswer, readText } from './answer.ts';
import { stopped, unreachable } from './failure.ts';

/** One HTTP request. `where` names it in errors. */
type ClientRequest = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | undefined;
  /** Timeout of the whole exchange in milliseconds, including the body of the answer. */
  readonly timeoutMs: number;
  /** Maximum bytes of the answer's body; default: the limit of `readText`. */
  readonly maxBytes?: number | undefined;
  /** When aborted, ends the exchange with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Sends one request and returns its answer, whatever its status. Follows no redirect: fetch would send a write, or custom
 * headers, to another server. Rejects with `stopped`, `forge-timeout`, `forge-unreachable` or `forge-junk`; the error
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
    const response = await ky(url, {
      method: sent.method.toLowerCase(),
      headers: sent.headers,
      ...(sent.body === undefined ? {} : { body: sent.body }),
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      // The timeout of ky ends with the headers of the answer; this one includes a body that never arrives.
      timeout: false,
      credentials: 'omit',
      signal: deadline.signal,
    });
    const text = await readText(response, where, {
      signal: deadline.signal,
      maxBytes: sent.maxBytes,
    });
    return { status: response.status, headers: response.headers, text };
  } catch (thrown) {
    throw signal?.aborted ? stopped(where) : unreachable(where, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
