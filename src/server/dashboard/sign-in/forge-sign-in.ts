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
  /** Signs what the browser holds meanwhile; absent: a key of this process. */
  readonly signInKey: Uint8Array | undefined;
  readonly sessions: Sessions;
  readonly throttle: FailureThrottle;
  readonly isSecure: (request: FastifyRequest) => boolean;
  /** Shows the form, with what went wrong. */
  readonly showForm: (request: FastifyRequest, reply: FastifyReply, problem: string) => FastifyReply;
  readonly clock: WallClock;
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

/** A sign-in with a forge account that a browser has begun. */
type Begun = {
  readonly state: string;
  readonly verifier: string;
  /** SHA-256 of the verifier, base64url. */
  readonly challenge: string;
  /** The path that the person came for. */
  readonly to: string;
};

/** What ties the forge's answer to the browser that asked: a cookie that only a process of this installation can have made. */
interface SignInState {
  begin(request: FastifyRequest, reply: FastifyReply, to: string): Begun;
  /** Returns what this browser began, where `state` is that of it; undefined for everything else. */
  find(request: FastifyRequest, state: string): Begun | undefined;
  forget(request: FastifyRequest, reply: FastifyReply): void;
}

const seconds = 600;

/**
 * Creates it. Over HTTPS the cookie is one that no neighbouring site can set. It is signed with `signInKey`, so that the forge may
 * send people back to another process that has the same key.
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
  // Lax: the forge's answer is a visit that begins on its site, and must bring this along.
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
      // A browser may keep a cookie for longer than it was told to.
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

/** Where the forge sends people back to after they signed in, below the dashboard’s address. */
const signInPath = '/sign-in/callback';

/** Returns the address people come back to. */
export function redirectUri(dashboard: string): string {
  return `${dashboard.replace(/\/+$/, '')}${signInPath}`;
}
