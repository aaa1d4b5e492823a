import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isSentByOtherSite } from '../../../platform/http/constant-time-equal.ts';
import type { ForgeContext } from '../context.ts';
import { ForgeProblem } from '../errors.ts';
import { sendFailure } from './respond.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses, with 403, a write that a page of another site makes a browser send with stored Basic credentials. A write
 * with a token passes, because only the client itself sets a token. So does a request without the headers that browsers
 * add, for example from git, curl or a server.
 */
export function refuseCrossSiteWrites(app: FastifyInstance, context: ForgeContext): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, headers } = request;
    if (safeMethods.has(method) || !/^basic\s/i.test(headers.authorization ?? '')) return;
    if (!isCrossSite(headers, context.rootUrl())) return;
    const problem = new ForgeProblem(
      403,
      'a page of another site may not write with the credentials of a browser',
    );
    return sendFailure(context, request, reply, problem);
  });
}

/**
 * Returns whether a browser reports that another origin caused the request, like Go's
 * `net/http.CrossOriginProtection`. Browsers omit `Sec-Fetch-Site` on plain http, where `Origin` decides; `null` is
 * never the origin of a site.
 */
export function isCrossSite(headers: IncomingHttpHeaders, rootUrl: string): boolean {
  if (headers['sec-fetch-site'] !== undefined) return isSentByOtherSite(headers);
  if (headers.origin === undefined) return false;
  const host = URL.parse(headers.origin)?.host;
  const own = [URL.parse(`http://${headers.host}`)?.host, headers.host, URL.parse(rootUrl)?.host];
  return host === undefined || host === '' || !own.includes(host);
}
