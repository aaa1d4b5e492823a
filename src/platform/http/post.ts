import { type LookupAddress, lookup as lookUp } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOfUrl, type ReachableHosts } from './reachable-hosts.ts';

/** Bytes of an answer that are read; nothing in them is used. */
const maxAnswerBytes = 64 * 1024;

/** Thrown before a connection is opened: the host of a request may not be reached. It never contains the host. */
export class HostRefused extends Error {}

export type PostRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the whole exchange: looking up, connecting, sending, reading. */
  readonly signal: AbortSignal;
};

type PostAnswer = { readonly status: number; readonly retryAfter: string | undefined };

export type PostOptions = {
  readonly hosts: ReachableHosts;
  /** Certificates of authorities that are trusted instead of the standard ones. */
  readonly ca?: string | undefined;
  /** Looks a name up; default: the system's resolver. */
  readonly lookup?: typeof lookUp | undefined;
};

/**
 * Posts a body once and returns the status of the answer. Follows no redirect. Every address that a name resolves to is
 * checked while the connection is opened, and no other address is connected to: a name cannot resolve to a public address for
 * the check and to a private one for the request.
 */
export async function post({ url, ...sent }: PostRequest, options: PostOptions): Promise<PostAnswer> {
  const { hosts, ca, lookup = lookUp } = options;
  const host = hostOfUrl(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && hosts.isListed(host)))
    throw new HostRefused('it is no https: URL, and its host is not listed');
  // No name is looked up for an address.
  if (isIP(host) !== 0 && !hosts.permits(host))
    throw new HostRefused('its address is not public, and not listed');
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: 'POST',
    // No kept connection: it may belong to an address that is no longer permitted.
    agent: false,
    signal: sent.signal,
    headers: { ...sent.headers, 'Content-Length': String(Buffer.byteLength(sent.body)) },
    lookup: hosts.isListed(host) ? lookup : createCheckedLookup(hosts, lookup),
    ...(ca === undefined ? {} : { ca }),
  });
  let fail: (error: Error) => void = reject;
  request.on('error', (error) => fail(error));
  request.on('response', (response) => {
    const { 'retry-after': retryAfter } = response.headers;
    // The status decides; an answer that breaks off, or never ends, changes nothing about it.
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
  request.end(sent.body);
  return promise;
}

/** Returns a lookup that fails unless every address of the name may be connected to. */
export function createCheckedLookup(
  hosts: Pick<ReachableHosts, 'permits'>,
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
      // Node asks for all addresses where it tries one after the other.
      const answer = callback as (error: null, found: string | LookupAddress[], family?: number) => void;
      return options.all ? answer(null, found) : answer(null, first.address, first.family);
    });
  };
}
