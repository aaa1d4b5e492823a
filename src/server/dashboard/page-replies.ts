import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../platform/http/html.ts';
import { contentSecurityPolicy, type NavEntry, type PageFrame, type PageView, wholePage } from './page.ts';
import type { Session, Sessions } from './sign-in/sessions.ts';

/**
 * Returns the relative path from a request to the root of the dashboard, independent of any prefix added by a proxy.
 */
export function rootOf(request: FastifyRequest): string {
  return '../'.repeat(requestPathOf(request).split('/').length - 2) || './';
}

/** Returns the query parameters. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'));
}

/** Returns whether the browser navigated here from a page of another site. */
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

/** Returns the host of a request without its port; undefined if the request has no valid host. */
function hostOf(request: FastifyRequest): string | undefined {
  const address = `http://${request.headers.host ?? ''}/`;
  return URL.canParse(address)
    ? new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    : undefined;
}

/**
 * Returns whether the Host header of a request is accepted. This protects against DNS rebinding, where a foreign name
 * resolves to this machine, so that pages from that name would count as same-origin. The attack requires a name, so
 * plain IP addresses are accepted.
 */
export function isKnownHost(request: FastifyRequest, dashboardUrl: string | undefined): boolean {
  const host = hostOf(request);
  if (host === undefined || host === '') return false;
  if (isIP(host) !== 0 || host === 'localhost') return true;
  return dashboardUrl !== undefined && new URL(dashboardUrl).hostname === host;
}

/** Returns whether the request was sent to an address that browsers reach over HTTPS. */
export function isSecureHost(request: FastifyRequest, dashboardUrl: string | undefined): boolean {
  if (dashboardUrl === undefined) return false;
  const { protocol, hostname } = new URL(dashboardUrl);
  return protocol === 'https:' && hostname.replace(/^\[|\]$/g, '') === hostOf(request);
}

/** Returns the path of the navigation entry to which a page belongs. */
function navPathOf(path: string): string {
  const [, first = ''] = path.split('/');
  return first === 'subjects' ? 'deliveries' : first;
}

/** Audience of a page: every signed-in viewer, or operators only. */
export type PageAudience = 'everyone' | 'operators';

/** Sends pages, each in the frame of its viewer. */
export interface PageReplies {
  /** Sends a page; without a session, in the frame for anonymous viewers. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    session: Session | undefined,
    view: PageView,
  ): FastifyReply;
  /** Sends the sign-in page with 401. */
  askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /**
   * Sends a page that immediately requests the same page again. A request that follows a link from another site carries
   * no session cookie; the repeated request does.
   */
  lookAgain(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Sends a page to an anonymous viewer. */
  showSignedOut(
    request: FastifyRequest,
    reply: FastifyReply,
    view: PageView,
    options?: { leadsTo?: string },
  ): FastifyReply;
}

/** Creates the replies. `signInView` returns the page for anonymous viewers, given the path of the request. */
export function createPageReplies(options: {
  readonly sessions: Sessions;
  readonly entries: readonly (NavEntry & { readonly audience: PageAudience })[];
  readonly signInView: (root: string, to: string) => PageView;
}): PageReplies {
  const { sessions, entries } = options;

  const frameOf = (request: FastifyRequest, session: Session | undefined): PageFrame => {
    const root = rootOf(request);
    if (session === undefined) return { root, entries: [] };
    const { viewer } = session;
    return {
      root,
      entries: entries.filter(({ audience }) => viewer.isOperator || audience === 'everyone'),
      currentPath: navPathOf(requestPathOf(request)),
      viewer: { name: viewer.name, signOutMark: sessions.csrfToken(session, 'sign-out') },
    };
  };

  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    session: Session | undefined,
    view: PageView,
  ): FastifyReply =>
    setSecurityHeaders(reply)
      .type('text/html; charset=utf-8')
      .send(wholePage(view, frameOf(request, session)));

  const askToSignIn = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // Sends the page itself instead of a redirect, so the requested path stays in the address bar and is shown after
    // sign-in.
    reply.code(401).header('www-authenticate', 'Session realm="reeve"');
    const to = request.method === 'GET' ? request.url : '/';
    return send(request, reply, undefined, options.signInView(rootOf(request), to));
  };

  const lookAgain = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const leadsTo = `${rootOf(request)}${request.url.slice(1)}`;
    const content = html`<p><a href="${leadsTo}">Go on</a></p>`;
    const frame = { ...frameOf(request, undefined), leadsTo };
    return setSecurityHeaders(reply)
      .type('text/html; charset=utf-8')
      .send(wholePage({ title: 'Reeve', content }, frame));
  };

  return {
    send,
    askToSignIn,
    lookAgain,
    showSignedOut(request, reply, view, { leadsTo } = {}) {
      const frame = { ...frameOf(request, undefined), leadsTo };
      return setSecurityHeaders(reply).type('text/html; charset=utf-8').send(wholePage(view, frame));
    },
  };
}

/** Sets the security headers of every response of the dashboard. */
export function setSecurityHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
}
