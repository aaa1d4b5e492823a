import type { FastifyRequest } from 'fastify';

/** Returns the way from a request's path to the root of the dashboard, whatever a proxy put before it. */
export function rootOf(request: FastifyRequest): string {
  return '../'.repeat(requestPathOf(request).split('/').length - 2) || './';
}

/** Returns what stands behind the path. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'));
}

/** A browser says that a page of another site led here, as the address of the whole window. */
export function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isOther = site === 'cross-site' || site === 'same-site';
  return (
    method === 'GET' &&
    isOther &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

/** Returns the path of a request without its query. */
export function requestPathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}
