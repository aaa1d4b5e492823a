import ky from 'ky';
import { type Answer, readText } from './answer.ts';
import { stopped, unreachable } from './failure.ts';

/** One HTTP request. `where` names it in errors. */
type Exchange = {
  readonly url: URL;
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | undefined;
  /** Milliseconds for the whole exchange, body of the answer included. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body that are read; default: the limit of `readText`. */
  readonly maxBytes?: number;
  /** Ends the exchange with `stopped` once it is aborted. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Sends one request and returns its answer, whatever its status. Follows no redirect: fetch would carry a write, or custom
 * headers, to another place. Rejects with `stopped`, `forge-timeout`, `forge-unreachable` or `forge-junk`; the error
 * holds nothing of what was sent.
 */
export async function exchange({ url, where, signal, ...sent }: Exchange): Promise<Answer> {
  if (signal?.aborted) throw stopped(where);
  // Not AbortSignal.timeout, nor AbortSignal.any: each of those lives as long as its time or its sources, thousands of them
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
      // That of ky ends with the head of the answer; a body that never comes is part of the exchange.
      timeout: false,
      credentials: 'omit',
      signal: deadline.signal,
    });
    const text = await readText(response, where, sent.maxBytes);
    return { status: response.status, headers: response.headers, text };
  } catch (thrown) {
    throw signal?.aborted ? stopped(where) : unreachable(where, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
