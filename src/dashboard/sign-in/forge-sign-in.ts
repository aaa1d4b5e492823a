import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ClientOptions } from '../../client/client.ts';
import { createLimiter } from '../../client/limiter.ts';
import type { OAuth2 } from '../../client/oauth2.ts';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { FailureThrottle } from '../../http/failure-throttle.ts';
import { html } from '../../http/html.ts';
import type { Log } from '../../log.ts';
import type { PageHandler } from '../page-handler.ts';
import { setSecurityHeaders } from '../page-replies.ts';
import { queryOf, rootOf } from '../request-path.ts';
import { signInPath } from './address.ts';
import { createForgeViewer, signInScopes } from './forge-viewer.ts';
import { createPersonalClient } from './personal-client.ts';
import type { Sessions } from './sessions.ts';
import { createSignInState } from './state.ts';

/** How people sign in with their forge account. */
export type ForgeSignIn = {
  readonly oauth2: OAuth2;
  /** Address of the forge, as for the client. */
  readonly url: string;
  /** Where the forge sends people back to, as it is registered there. */
  readonly redirectUri: string;
  /** Called with every request that is made for a signed-in person. */
  readonly onRequest?: NonNullable<ClientOptions['onRequest']>;
  /** Ends the requests made for people, once it is aborted. */
  readonly signal?: AbortSignal;
};

type ForgeSignInParts = {
  readonly forge: ForgeSignIn;
  readonly sessions: Sessions;
  readonly throttle: FailureThrottle;
  readonly isSecure: (request: FastifyRequest) => boolean;
  /** Shows the form, with what went wrong. */
  readonly showForm: (request: FastifyRequest, reply: FastifyReply, problem: string) => FastifyReply;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
};

/** Calls under way at once for everybody who signed in: the bot’s own work goes before. */
const maxAtOnce = 4;

/** Registers the way to the forge and back (RFC 6749, section 4.1, with PKCE). */
export function registerForgeSignIn(
  app: FastifyInstance,
  pageHandler: PageHandler,
  parts: ForgeSignInParts,
): void {
  const { forge, sessions, throttle, log, clock } = parts;
  const { oauth2, redirectUri, url, onRequest, signal } = forge;
  const state = createSignInState(parts.isSecure);
  const limiter = createLimiter({ max: maxAtOnce });
  const shared = { url, limiter, onRequest, signal };

  const fail = (
    request: FastifyRequest,
    reply: FastifyReply,
    code: number,
    problem: string,
  ): FastifyReply => {
    state.forget(request, reply);
    return parts.showForm(request, reply.code(code), problem);
  };

  app.get('/sign-in/forge', async (request, reply) => {
    try {
      const { state: word, challenge } = state.begin(request, reply, pathOnly(queryOf(request).get('to')));
      const asked = { redirectUri, state: word, challenge, scopes: signInScopes };
      return setSecurityHeaders(reply).redirect(await oauth2.authorizeUrl(asked), 303);
    } catch (error) {
      if (!throttle.recordFailure(request.ip))
        log.warn({ error: messageOf(error) }, 'the forge does not say where people sign in');
      return fail(request, reply, 502, 'The forge cannot be asked now.');
    }
  });

  app.get(signInPath, async (request, reply) => {
    const query = queryOf(request);
    const begun = state.find(request, query.get('state') ?? '');
    if (begun === undefined) {
      const problem = 'This sign-in was not begun in this browser, or too long ago: begin again.';
      return fail(request, reply, 403, problem);
    }
    const code = query.get('code');
    if (!code) {
      const said = query.get('error') ?? 'nothing';
      if (said !== 'access_denied') log.warn({ said: said.slice(0, 100) }, 'the forge refuses the sign-in');
      const problem =
        said === 'access_denied'
          ? 'The forge says that you did not allow Reeve to see who you are.'
          : 'The forge could not sign you in: begin again.';
      return fail(request, reply, 403, problem);
    }
    try {
      const tokens = await oauth2.redeem(code, { verifier: begun.verifier, redirectUri });
      const client = createPersonalClient({ forge: shared, oauth2, tokens, clock });
      const viewer = await createForgeViewer(client, clock);
      sessions.start(request, reply, viewer);
      log.info({ viewer: viewer.name, operator: viewer.isOperator }, 'signed in to the dashboard');
    } catch (error) {
      if (!throttle.recordFailure(request.ip))
        log.warn({ error: messageOf(error) }, 'a sign-in with a forge account failed');
      return fail(request, reply, 502, 'The forge did not accept the sign-in: begin again.');
    }
    state.forget(request, reply);
    // A redirect would still count as coming from the forge's site, and the browser keep the session to itself.
    const leadsTo = `${rootOf(request)}${pathOnly(begun.to).slice(1)}`;
    const content = html`<p>You are signed in: <a href="${leadsTo}">go on</a>.</p>`;
    return pageHandler.showSignedOut(request, reply, { title: 'Signed in', content }, { leadsTo });
  });
}

/** Only a path of our own pages is led to: letters and digits, dashes and slashes, and what a filter of a list says. */
export function pathOnly(to: string | null): string {
  return to !== null && /^\/[a-z]*(\/[\w-]+)*(\?[\w=&%.+-]*)?$/.test(to) ? to : '/';
}
