import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WallClock } from '../../../platform/clock.ts';
import { messageOf } from '../../../platform/errors.ts';
import { createCsrfTokens, isSameSecret } from '../../../platform/http/constant-time-equal.ts';
import type { FailureThrottle } from '../../../platform/http/failure-throttle.ts';
import { html } from '../../../platform/http/html.ts';
import type { Log } from '../../../platform/log.ts';
import type { PageHandler } from '../page-handler.ts';
import { queryOf, rootOf, setSecurityHeaders } from '../page-replies.ts';
import type { ForgeAccounts, ForgeSignIn } from './forge-accounts.ts';
import { signInScopes } from './forge-viewer.ts';
import type { Sessions } from './sessions.ts';

type ForgeSignInParts = {
  readonly forge: ForgeSignIn;
  readonly accounts: ForgeAccounts;
  /** Key for the cookie of a sign-in in progress; absent: a key that lasts as long as this process. */
  readonly signInKey: Uint8Array | undefined;
  readonly sessions: Sessions;
  readonly throttle: FailureThrottle;
  readonly isSecure: (request: FastifyRequest) => boolean;
  /** Shows the sign-in form with a problem. */
  readonly showForm: (request: FastifyRequest, reply: FastifyReply, problem: string) => FastifyReply;
  readonly clock: WallClock;
  readonly log: Log;
};

/** Registers the authorization code flow of the forge (RFC 6749, section 4.1, with PKCE). */
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
        log.warn({ error: messageOf(error) }, 'the sign-in address of the forge cannot be read');
      return fail(request, reply, 502, 'The forge is currently unavailable.');
    }
  });

  app.get(signInPath, async (request, reply) => {
    const query = queryOf(request);
    const begun = state.find(request, query.get('state') ?? '');
    if (begun === undefined) {
      const problem = 'This sign-in was not started in this browser, or was started too long ago: try again.';
      return fail(request, reply, 403, problem);
    }
    const code = query.get('code');
    if (!code) {
      const said = query.get('error') ?? 'nothing';
      if (said !== 'access_denied') log.warn({ said: said.slice(0, 100) }, 'the forge refuses the sign-in');
      const problem =
        said === 'access_denied'
          ? 'The forge says that you did not allow Reeve to see who you are.'
          : 'The forge could not sign you in: try again.';
      return fail(request, reply, 403, problem);
    }
    try {
      const tokens = await oauth2.redeem(code, { verifier: begun.verifier, redirectUri });
      const viewer = await sessions.start(request, reply, await accounts.identify(tokens));
      log.info({ viewer: viewer.name, operator: viewer.isOperator }, 'signed in to the dashboard');
    } catch (error) {
      if (!throttle.recordFailure(request.ip))
        log.warn({ error: messageOf(error) }, 'a sign-in with a forge account failed');
      return fail(request, reply, 502, 'The forge did not accept the sign-in: try again.');
    }
    state.forget(request, reply);
    // An HTTP redirect would count as a cross-site navigation from the forge, and the browser would not send the
    // session cookie.
    const leadsTo = `${rootOf(request)}${pathOnly(begun.to).slice(1)}`;
    const content = html`<p>You are signed in: <a href="${leadsTo}">continue</a>.</p>`;
    return pageHandler.showSignedOut(request, reply, { title: 'Signed in', content }, { leadsTo });
  });
}

/**
 * Returns the path if it has the form of our own pages: letters, digits, dashes and slashes, with the filters of a
 * list.
 */
export function pathOnly(to: string | null): string {
  return to !== null && /^\/[a-z]*(\/[\w-]+)*(\?[\w=&%.+-]*)?$/.test(to) ? to : '/';
}

/** A sign-in in progress in one browser. */
type Begun = {
  readonly state: string;
  readonly verifier: string;
  /** SHA-256 of the verifier, base64url. */
  readonly challenge: string;
  /** The path that the viewer requested. */
  readonly to: string;
};

/**
 * Binds the forge's response to the browser that started the sign-in, with a cookie that only processes of this
 * installation can create.
 */
interface SignInState {
  begin(request: FastifyRequest, reply: FastifyReply, to: string): Begun;
  /** Returns the sign-in that this browser started with this `state`; undefined otherwise. */
  find(request: FastifyRequest, state: string): Begun | undefined;
  forget(request: FastifyRequest, reply: FastifyReply): void;
}

const seconds = 600;

/**
 * Creates the state of sign-ins. Over HTTPS, the cookie has the `__Host-` prefix, so that no neighbouring site can set
 * it. The cookie is signed with `signInKey`, so that the forge may redirect to another process with the same key.
 */
function createSignInState({
  isSecure,
  signInKey,
  clock,
}: {
  readonly isSecure: (request: FastifyRequest) => boolean;
  readonly signInKey: Uint8Array | undefined;
  readonly clock: WallClock;
}): SignInState {
  const csrfTokens = createCsrfTokens(signInKey);
  const nameFor = (request: FastifyRequest): string =>
    isSecure(request) ? '__Host-reeve_sign_in' : 'reeve_sign_in';
  // `SameSite=Lax`: the redirect from the forge is a cross-site navigation and must include this cookie.
  const write = (request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void => {
    const flags = { path: '/', httpOnly: true, sameSite: 'lax', maxAge, secure: isSecure(request) } as const;
    reply.setCookie(nameFor(request), value, flags);
  };
  const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
  const random = (): string => randomBytes(32).toString('base64url');

  return {
    begin(request, reply, to) {
      const [state, verifier] = [random(), random()];
      const ends = String(clock.now().getTime() + seconds * 1_000);
      const parts = [state, verifier, Buffer.from(to).toString('base64url'), ends].join('.');
      write(request, reply, `${parts}.${csrfTokens.tokenFor('', parts)}`, seconds);
      return { state, verifier, challenge: challengeOf(verifier), to };
    },
    find(request, given) {
      const held = request.cookies[nameFor(request)] ?? '';
      const parts = held.slice(0, held.lastIndexOf('.'));
      if (!csrfTokens.isValid(held.slice(held.lastIndexOf('.') + 1), '', parts)) return undefined;
      const [state = '', verifier = '', to = '', ends] = parts.split('.');
      if (state === '' || !isSameSecret(given, state)) return undefined;
      // Browsers may keep a cookie beyond its expiry.
      if (clock.now().getTime() >= Number(ends)) return undefined;
      return {
        state,
        verifier,
        challenge: challengeOf(verifier),
        to: Buffer.from(to, 'base64url').toString('utf8'),
      };
    },
    forget: (request, reply) => write(request, reply, '', 0),
  };
}

/** Path of the redirect URI, below the dashboard’s URL. */
const signInPath = '/sign-in/callback';

/** Returns the redirect URI. */
export function redirectUri(dashboard: string): string {
  return `${dashboard.replace(/\/+$/, '')}${signInPath}`;
}
