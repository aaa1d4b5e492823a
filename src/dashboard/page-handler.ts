import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageOf, ReeveError } from '../errors.ts';
import { type Html, html } from '../http/html.ts';
import type { Log } from '../log.ts';
import { isKnownHost } from './hosts.ts';
import { contentSecurityPolicy, type NavEntry, type PageFrame, type PageView, wholePage } from './page.ts';
import type { Session, Sessions } from './sign-in/sessions.ts';
import { SignedOut, type Viewer } from './viewer.ts';

/** One request for a page by a signed-in viewer. */
export type PageRequest = {
  readonly viewer: Viewer;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The way to the root of the dashboard: links begin with it. */
  readonly root: string;
  /** Returns a form of one button, which posts to a path. */
  button(path: string, text: string): Html;
};

/** Who may come in: everybody who signed in, or operators alone. */
export type PageAudience = 'everyone' | 'operators';
/** Sign-out checks no access: the forge may be away. */
type ActAudience = PageAudience | 'signing-out';

/** Answers requests for pages and forms. */
export interface PageHandler {
  /** Answers with what `view` returns; where that is nothing, with 404. An anonymous viewer gets the sign-in page. */
  show(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: PageAudience,
    view: (visit: PageRequest) => Promise<PageView | undefined>,
  ): Promise<FastifyReply>;
  /** Answers with bytes to keep, which no browser may take for a page; where there are none, with 404. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (visit: PageRequest) => Promise<{ readonly name: string; readonly bytes: Uint8Array } | undefined>,
  ): Promise<FastifyReply>;
  /** Does what a form asks, then leads to the path that `act` returns; where it returns none, 404. */
  act(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: ActAudience,
    act: (visit: PageRequest) => Promise<string | undefined>,
  ): Promise<FastifyReply>;
  /** Answers with a page for an anonymous viewer. */
  showSignedOut(
    request: FastifyRequest,
    reply: FastifyReply,
    view: PageView,
    options?: { leadsTo?: string },
  ): FastifyReply;
}

/** Creates what answers visits. `signInView` is the page for anonymous viewers, with the path of the request. */
export function createPageHandler(options: {
  readonly sessions: Sessions;
  readonly entries: readonly (NavEntry & { readonly audience: PageAudience })[];
  readonly signInView: (root: string, to: string) => PageView;
  readonly log: Log;
}): PageHandler {
  const { sessions, entries, log } = options;

  const frameOf = (request: FastifyRequest, session: Session | undefined): PageFrame => {
    const root = rootOf(request);
    if (session === undefined) return { root, entries: [] };
    const { viewer } = session;
    return {
      root,
      entries: entries.filter(({ audience }) => viewer.isOperator || audience === 'everyone'),
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
    // The page itself is the answer: what was asked for stands in the address, and is shown after signing in.
    reply.code(401).header('www-authenticate', 'Session realm="reeve"');
    const to = request.method === 'GET' ? request.url : '/';
    return send(request, reply, undefined, options.signInView(rootOf(request), to));
  };

  /** A link from another site brings no session cookie; the same page, requested from here, does. */
  const lookAgain = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const leadsTo = `${rootOf(request)}${request.url.slice(1)}`;
    const content = html`<p><a href="${leadsTo}">Go on</a></p>`;
    const frame = { ...frameOf(request, undefined), leadsTo };
    return setSecurityHeaders(reply)
      .type('text/html; charset=utf-8')
      .send(wholePage({ title: 'Reeve', content }, frame));
  };

  const visitOf = (request: FastifyRequest, { id, viewer }: Session): PageRequest => {
    const root = rootOf(request);
    return {
      viewer,
      // The router fills in the names of the path, texts all of them.
      params: request.params as Readonly<Record<string, string>>,
      query: queryOf(request),
      root,
      button(path, text) {
        const mark = sessions.csrfToken({ id, viewer }, path);
        return html`<form method="post" action="${root}${path}"><input type="hidden" name="mark" value="${mark}">
<button>${text}</button></form>`;
      },
    };
  };

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    audience: ActAudience,
    run: (session: Session) => Promise<FastifyReply | undefined>,
  ): Promise<FastifyReply> => {
    const session = sessions.find(request);
    if (session === undefined)
      return isFromElsewhere(request) ? lookAgain(request, reply) : askToSignIn(request, reply);
    try {
      if (audience !== 'signing-out') await session.viewer.confirm();
      if (audience === 'operators' && !session.viewer.isOperator) {
        return send(request, reply.code(403), session, forOperators);
      }
      return (await run(session)) ?? send(request, reply.code(404), session, notThere);
    } catch (error) {
      if (error instanceof SignedOut) {
        sessions.end(request, reply);
        return askToSignIn(request, reply);
      }
      log.warn({ page: request.routeOptions.url, error: messageOf(error) }, 'a page cannot be shown now');
      const status = error instanceof ReeveError ? error.http : 500;
      return send(request, reply.code(status), session, cannotNow);
    }
  };

  return {
    show: (request, reply, audience, view) =>
      answer(request, reply, audience, async (session) => {
        const shown = await view(visitOf(request, session));
        return shown && send(request, reply, session, shown);
      }),
    send: (request, reply, find) =>
      answer(request, reply, 'everyone', async (session) => {
        const file = await find(visitOf(request, session));
        return (
          file &&
          setSecurityHeaders(reply)
            .type('application/octet-stream')
            .header('content-disposition', `attachment; filename="${file.name}"`)
            .send(Buffer.from(file.bytes))
        );
      }),
    act: (request, reply, audience, act) =>
      answer(request, reply, audience, async (session) => {
        if (!sessions.hasCsrfToken(request, session, pathOf(request).slice(1)))
          return send(request, reply.code(403), session, outOfDate);
        const path = await act(visitOf(request, session));
        return path === undefined
          ? undefined
          : setSecurityHeaders(reply).redirect(`${rootOf(request)}${path}`, 303);
      }),
    showSignedOut(request, reply, view, { leadsTo } = {}) {
      const frame = { ...frameOf(request, undefined), leadsTo };
      return setSecurityHeaders(reply).type('text/html; charset=utf-8').send(wholePage(view, frame));
    },
  };
}

/** Refuses what came under a name that is not ours; returns whether it did. */
export function rejectUnknownHost(
  request: FastifyRequest,
  reply: FastifyReply,
  dashboardUrl: string | undefined,
): boolean {
  if (isKnownHost(request, dashboardUrl)) return false;
  const text =
    '421: Reeve is not known by this name: write its address into `dashboard.url` of the operator file\n';
  setSecurityHeaders(reply).code(421).type('text/plain; charset=utf-8').send(text);
  return true;
}

/** Sets what every answer of the dashboard says to browsers. */
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

/** Returns the way from a request's path to the root of the dashboard, whatever a proxy put before it. */
export function rootOf(request: FastifyRequest): string {
  return '../'.repeat(pathOf(request).split('/').length - 2) || './';
}

/** Returns what stands behind the path. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'));
}

/** A browser says that a page of another site led here, as the address of the whole window. */
function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isOther = site === 'cross-site' || site === 'same-site';
  return (
    method === 'GET' &&
    isOther &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

const notThere: PageView = {
  title: 'Not found',
  content: html`<p>There is nothing here, or nothing that you may see.</p>`,
};
const forOperators: PageView = {
  title: 'For operators',
  content: html`<p>This page is for operators: sign in with the password of this installation, or as a site administrator
of the forge.</p>`,
};
const outOfDate: PageView = {
  title: 'Out of date',
  content: html`<p role="alert">This form is out of date, and nothing was done: load its page again.</p>`,
};
const cannotNow: PageView = {
  title: 'Not now',
  content: html`<p role="alert">This cannot be shown now: the forge or the store did not answer. The log says why.</p>`,
};
