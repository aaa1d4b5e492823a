import { isIP } from 'node:net';
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

/** The name or address that a request was sent to, without its port; undefined where it says none that can be read. */
function hostOf(request: FastifyRequest): string | undefined {
  const address = `http://${request.headers.host ?? ''}/`;
  return URL.canParse(address)
    ? new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    : undefined;
}

/**
 * Returns whether the dashboard may be shown under the name that a request came to. A page of a stranger whose name leads to
 * this machine (DNS rebinding) would otherwise count as ours; that takes a name, so plain addresses are let through.
 */
export function isKnownHost(request: FastifyRequest, dashboardUrl: string | undefined): boolean {
  const host = hostOf(request);
  if (host === undefined || host === '') return false;
  if (isIP(host) !== 0 || host === 'localhost') return true;
  return dashboardUrl !== undefined && new URL(dashboardUrl).hostname === host;
}

/** Returns whether people reach the address that a request came to over HTTPS. */
export function isSecureHost(request: FastifyRequest, dashboardUrl: string | undefined): boolean {
  if (dashboardUrl === undefined) return false;
  const { protocol, hostname } = new URL(dashboardUrl);
  return protocol === 'https:' && hostname.replace(/^\[|\]$/g, '') === hostOf(request);
}
