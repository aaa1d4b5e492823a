import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../platform/clock.ts';
import { messageOf } from '../../../platform/errors.ts';
import type { FailureThrottle } from '../../../platform/http/failure-throttle.ts';
import { html } from '../../../platform/http/html.ts';
import type { Log } from '../../../platform/log.ts';
import type { PageHandler } from '../page-handler.ts';
import { setSecurityHeaders } from '../page-replies.ts';
import { queryOf, rootOf } from '../request-path.ts';
import { signInPath } from './address.ts';
import type { ForgeAccounts, ForgeSignIn } from './forge-accounts.ts';
import { signInScopes } from './forge-viewer.ts';
import type { Sessions } from './sessions.ts';
import { createSignInState } from './state.ts';

type ForgeSignInParts = {
  readonly forge: ForgeSignIn;
  readonly accounts: ForgeAccounts;
  /** Signs what the browser holds meanwhile; absent: a key of this process. */
  readonly signInKey: Uint8Array | undefined;
  readonly sessions: Sessions;
  readonly throttle: FailureThrottle;
  readonly isSecure: (request: FastifyRequest) => boolean;
  /** Shows the form, with what went wrong. */
  readonly showForm: (request: FastifyRequest, reply: FastifyReply, problem: string) => FastifyReply;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
};

/** Registers the way to the forge and back (RFC 6749, section 4.1, with PKCE). */
export function registerForgeSignIn(
  app: FastifyInstance,
  pageHandler: PageHandler,
  parts: ForgeSignInParts,
): void {
  const { forge, accounts, sessions, throttle, log } = parts;
  const { oauth2, redirectUri } = forge;
  const state = createSignInState(parts);

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
      const viewer = await sessions.start(request, reply, await accounts.identify(tokens));
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
