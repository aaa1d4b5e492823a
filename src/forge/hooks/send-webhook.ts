import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { createCheckedLookup, HostRefused } from '../../platform/http/post.ts';
import { hostOfUrl } from '../../platform/http/reachable-hosts.ts';

/** Bytes of an answer that are kept. */
const maxAnswerBytes = 1024 * 1024;
const maxRedirects = 10;

type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the whole exchange: connecting, sending, redirects, reading. */
  readonly signal: AbortSignal;
  /** Whether an address may be connected to, to which the host of a URL resolves. Asked before each connection. */
  readonly permits: (address: string, host: string) => boolean;
};

type WebhookAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first MiB. */
  readonly body: string;
};

type Hop = { readonly method: 'POST' | 'GET'; readonly url: URL; readonly headers: Record<string, string> };

/**
 * Posts a body and returns the answer. Redirects go as the baseline's HTTP client takes them: at most ten, 301, 302 and
 * 303 turn into a GET without body, 307 and 308 stay a POST, `Authorization` is not sent to another host. Throws `HostRefused`
 * for an address that is not permitted, of a redirect as well.
 */
export async function sendWebhook({ url, headers, body, ...guards }: WebhookRequest): Promise<WebhookAnswer> {
  let hop: Hop = { method: 'POST', url: new URL(url), headers: { ...headers } };
  for (let redirects = 0; ; redirects += 1) {
    const answer = await request(hop, hop.method === 'POST' ? body : undefined, guards);
    const next = redirectHop(hop, answer);
    if (next === undefined) return answer;
    if (redirects === maxRedirects) throw new Error(`stopped after ${maxRedirects} redirects`);
    hop = next;
  }
}

function redirectHop(hop: Hop, answer: WebhookAnswer): Hop | undefined {
  const location = answer.headers.location;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(answer.status)) return undefined;
  const url = new URL(location, hop.url);
  const headers = { ...hop.headers };
  if (url.hostname !== hop.url.hostname) delete headers.Authorization;
  return { method: answer.status >= 307 ? hop.method : 'GET', url, headers };
}

function request(
  hop: Hop,
  body: string | undefined,
  { signal, permits }: Pick<WebhookRequest, 'signal' | 'permits'>,
): Promise<WebhookAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>();
  if (hop.url.protocol !== 'http:' && hop.url.protocol !== 'https:') {
    throw new Error(`unsupported protocol scheme "${hop.url.protocol}"`);
  }
  const host = hostOfUrl(hop.url);
  // No name is looked up for an address.
  if (isIP(host) !== 0 && !permits(host, host))
    throw new HostRefused('its address is not public, and not listed');
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const program = hop.url.protocol === 'https:' ? https : http;
  // No kept connection: a receiver that restarted would turn a reused one into a lost delivery.
  const sent = program.request(hop.url, {
    method: hop.method,
    agent: false,
    signal,
    lookup: createCheckedLookup({ permits: (address) => permits(address, host) }),
    headers: { ...hop.headers, ...length },
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const finish = (): void => {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
      const kept = Buffer.concat(pieces).subarray(0, maxAnswerBytes).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers, body: kept });
    };
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes < maxAnswerBytes) return;
      finish();
      response.destroy();
    });
    response.on('error', reject);
    response.on('end', finish);
  });
  sent.end(body);
  return promise;
}
