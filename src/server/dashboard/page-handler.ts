import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { type FormFields, formFieldsOf } from '../../platform/http/form.ts';
import { type Html, html } from '../../platform/http/html.ts';
import type { Log } from '../../platform/log.ts';
import { type NavEntry, type PageView, timeTag } from './page.ts';
import {
  createPageReplies,
  isFromElsewhere,
  isKnownHost,
  type PageAudience,
  queryOf,
  requestPathOf,
  rootOf,
  setSecurityHeaders,
} from './page-replies.ts';
import type { Session, Sessions } from './sign-in/sessions.ts';
import { SignedOut, type Viewer } from './visibility.ts';

/** Links and formatted times of a page. */
export type PageLinks = {
  /** Relative path to the root of the dashboard, the prefix of all links. */
  readonly root: string;
  /** URL of the forge, without a trailing slash. */
  readonly forgeUrl: string;
  /** Returns an instant relative to now, with the exact time as a tooltip. */
  time(at: Date | string | undefined): Html | undefined;
};

/** One request for a page by a signed-in viewer. */
export type PageRequest = PageLinks & {
  readonly viewer: Viewer;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fields of the submitted form; empty for page requests. */
  readonly fields: FormFields;
  /** Returns a form with one button that posts to a path, with optional further fields. */
  button(path: string, text: string, further?: Html): Html;
};

/** Signing out requires no access check, because the forge may be unavailable. */
type ActAudience = PageAudience | 'signing-out';

/** Handles requests for pages and forms. */
export interface PageHandler {
  /**
   * Sends the page that `view` returns, a redirect to the path that it returns, or 404 for undefined. An anonymous viewer
   * gets the sign-in page.
   */
  show(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: PageAudience,
    view: (pageRequest: PageRequest) => Promise<PageView | string | undefined>,
  ): Promise<FastifyReply>;
  /** Sends the page for a path that does not exist, with 404. */
  showMissing(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** Sends bytes as a download, with a content type that browsers do not render as a page, or 404 for undefined. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (
      pageRequest: PageRequest,
    ) => Promise<{ readonly name: string; readonly bytes: Uint8Array } | undefined>,
  ): Promise<FastifyReply>;
  /** Sends the stream of server-sent events that `open` returns for the session, or 503 for undefined. */
  stream(
    request: FastifyRequest,
    reply: FastifyReply,
    open: (sessionId: string) => Readable | undefined,
  ): Promise<FastifyReply>;
  /**
   * Handles a submitted form, then redirects to the path that `act` returns, or sends 404 for undefined. `act` may also
   * return a page to send.
   */
  act(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: ActAudience,
    act: (pageRequest: PageRequest) => Promise<string | PageView | undefined>,
  ): Promise<FastifyReply>;
  /** Sends a page to an anonymous viewer. */
  showSignedOut(
    request: FastifyRequest,
    reply: FastifyReply,
    view: PageView,
    options?: { leadsTo?: string },
  ): FastifyReply;
}

/** Creates the handler. `signInView` returns the page for anonymous viewers, given the path of the request. */
export function createPageHandler(options: {
  readonly sessions: Sessions;
  readonly entries: readonly (NavEntry & { readonly audience: PageAudience })[];
  readonly signInView: (root: string, to: string) => PageView;
  readonly log: Log;
  readonly now: () => Date;
  readonly forgeUrl: string;
}): PageHandler {
  const { sessions, log } = options;
  const { send, askToSignIn, lookAgain, showSignedOut } = createPageReplies(options);

  const visitOf = (request: FastifyRequest, session: Session): PageRequest =>
    pageRequestOf(request, session, options);

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    audience: ActAudience,
    // A reply is itself awaitable, and resolves to undefined. `run` therefore returns a function that sends it: a reply
    // would look like a page that does not exist.
    run: (session: Session) => Promise<(() => FastifyReply) | undefined>,
  ): Promise<FastifyReply> => {
    let session: Session | undefined;
    try {
      session = await sessions.find(request);
      if (session === undefined)
        return isFromElsewhere(request) ? lookAgain(request, reply) : askToSignIn(request, reply);
      if (audience !== 'signing-out') await session.viewer.confirm();
      if (audience === 'operators' && !session.viewer.isOperator) {
        return send(request, reply.code(403), session, forOperators);
      }
      const sendAnswer = await run(session);
      return sendAnswer === undefined ? send(request, reply.code(404), session, notThere) : sendAnswer();
    } catch (error) {
      if (error instanceof SignedOut) {
        await sessions.end(request, reply);
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
        if (typeof shown === 'string') return () => redirectTo(request, reply, shown);
        return shown && (() => send(request, reply.code(shown.status ?? 200), session, shown));
      }),
    send: (request, reply, find) =>
      answer(request, reply, 'everyone', async (session) => {
        const file = await find(visitOf(request, session));
        return (
          file &&
          (() =>
            setSecurityHeaders(reply)
              .type('application/octet-stream')
              .header('content-disposition', `attachment; filename="${file.name}"`)
              .send(Buffer.from(file.bytes)))
        );
      }),
    stream: (request, reply, open) =>
      answer(
        request,
        reply,
        'everyone',
        async ({ id }) =>
          () =>
            sendEvents(reply, open(id)),
      ),
    act: (request, reply, audience, act) =>
      answer(request, reply, audience, async (session) => {
        if (!sessions.hasCsrfToken(request, session, requestPathOf(request).slice(1)))
          return () => send(request, reply.code(403), session, outOfDate);
        const done = await act(visitOf(request, session));
        if (typeof done === 'string') return () => redirectTo(request, reply, done);
        return done && (() => send(request, reply.code(done.status ?? 200), session, done));
      }),
    async showMissing(request, reply) {
      // Whether the path exists does not depend on the viewer: without a session, or if the forge cannot confirm it, the
      // same page has no navigation.
      const session = await sessions.find(request).catch(() => undefined);
      return send(request, reply.code(404), session, notThere);
    },
    showSignedOut,
  };
}

function redirectTo(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply {
  return setSecurityHeaders(reply).redirect(`${rootOf(request)}${path}`, 303);
}

function sendEvents(reply: FastifyReply, stream: Readable | undefined): FastifyReply {
  setSecurityHeaders(reply);
  // Browsers do not reconnect after this status; the page stays without updates.
  if (stream === undefined) return reply.code(503).type('text/plain').send('503\n');
  // Disables buffering in proxies, which would delay events.
  return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(stream);
}

function pageRequestOf(
  request: FastifyRequest,
  session: Session,
  {
    sessions,
    now,
    forgeUrl,
  }: {
    readonly sessions: Sessions;
    readonly now: () => Date;
    readonly forgeUrl: string;
  },
): PageRequest {
  const root = rootOf(request);
  const asOf = now();
  return {
    viewer: session.viewer,
    // The router sets the path parameters, which are all strings.
    params: request.params as Readonly<Record<string, string>>,
    query: queryOf(request),
    root,
    forgeUrl,
    time: (at) => timeTag(at, asOf),
    fields: formFieldsOf(request.body),
    button(path, text, further) {
      const mark = sessions.csrfToken(session, path);
      return html`<form method="post" action="${root}${path}"><input type="hidden" name="mark" value="${mark}">
${further}<button>${text}</button></form>`;
    },
  };
}

/** Refuses a request with an unknown Host header; returns whether it was refused. */
export function rejectUnknownHost(
  request: FastifyRequest,
  reply: FastifyReply,
  dashboardUrl: string | undefined,
): boolean {
  if (isKnownHost(request, dashboardUrl)) return false;
  const text = '421: Reeve does not know this host name: set `dashboard.url` in the operator file\n';
  setSecurityHeaders(reply).code(421).type('text/plain; charset=utf-8').send(text);
  return true;
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
  content: html`<p role="alert">This cannot be shown now: the forge or the store did not respond. The log says why.</p>`,
};
