import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OAuth2 } from '../client/oauth2.ts';
import { messageOf } from '../errors.ts';
import { isSentByOtherSite } from '../form-marks.ts';
import { html } from '../html.ts';
import type { Log } from '../log.ts';
import { createThrottle } from '../throttle.ts';
import { isSecureHost } from './hosts.ts';
import type { View } from './page.ts';
import { isPassword } from './password.ts';
import { personOf, signInScopes } from './person.ts';
import { createPersonalClient } from './personal-client.ts';
import { readCookie, type Sessions } from './sessions.ts';
import { signInPath } from './sign-in-address.ts';
import { passwordHolder } from './viewer.ts';
import { protect, rootOf, type Visits } from './visits.ts';

/** How people sign in with their forge account. */
export type ForgeSignIn = {
  readonly oauth2: OAuth2;
  /** Address of the forge, as for the client. */
  readonly url: string;
  /** Where the forge sends people back to, as it is registered there. */
  readonly redirectUri: string;
};

export type SignInParts = {
  readonly password: string;
  /** Absent: the password alone opens the dashboard. */
  readonly forge: ForgeSignIn | undefined;
  readonly dashboardUrl: string | undefined;
  readonly sessions: Sessions;
  readonly clock: { now(): Date };
  readonly nowMs: () => number;
  readonly log: Log;
};

const stateCookie = 'reeve_sign_in';
const stateSeconds = 600;
/** Wrong passwords a minute and address; beyond, the answer says so. */
const maxWrong = 10;

/** Returns the page on which people sign in. `to` is the path they are led to then; `problem` says what went wrong before. */
export function signInPage(hasForge: boolean): (root: string, to: string, problem?: string) => View {
  return (root, to, problem) => {
    const alert = problem === undefined ? undefined : html`<p role="alert">${problem}</p>`;
    const byForge =
      hasForge &&
      html`<p><a href="${root}sign-in/forge?${new URLSearchParams({ to: pathOnly(to) }).toString()}">Sign in with your forge account</a>:
you see what you can read there.</p>`;
    const content = html`${alert}${byForge || undefined}
<form method="post" action="${root}sign-in"><input type="hidden" name="to" value="${pathOnly(to)}">
<input name="user" value="operator" autocomplete="username" hidden>
<p><label>Password of this installation <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></p></form>
<p>It stands in <code>dashboard.password</code> in the folder of Reeve’s data, and lets see everything.</p>`;
    return { title: 'Sign in', content };
  };
}

/** Registers how people come in and leave. */
export function registerSignIn(app: FastifyInstance, visits: Visits, parts: SignInParts): void {
  const { sessions, forge, log } = parts;
  const view = signInPage(forge !== undefined);
  const throttle = createThrottle({ perMinute: maxWrong, clock: parts.clock });

  const showForm = (request: FastifyRequest, reply: FastifyReply, to: string, problem?: string) =>
    visits.showStranger(request, reply, view(rootOf(request), to, problem));
  const fail = (request: FastifyRequest, reply: FastifyReply, problem: string): FastifyReply => {
    forgetState(reply);
    return showForm(request, reply, '/', problem);
  };

  app.get('/sign-in', async (request, reply) => showForm(request, reply, '/'));

  app.post('/sign-in', async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const to = form.get('to') ?? '/';
    if (isSentByOtherSite(request.headers)) {
      return showForm(request, reply.code(403), to, 'Another site sent this form: sign in here.');
    }
    if (!isPassword(form.get('password') ?? '', parts.password)) {
      const isTooMuch = throttle.isTooMuch(request.ip);
      log.warn({ address: request.ip }, 'a wrong password for the dashboard');
      const problem = isTooMuch
        ? 'Wrong too often: wait a minute.'
        : 'This is not the password of this installation.';
      return showForm(request, reply.code(isTooMuch ? 429 : 401), to, problem);
    }
    sessions.start(request, reply, passwordHolder);
    return protect(reply).redirect(`${rootOf(request)}${pathOnly(to).slice(1)}`, 303);
  });

  app.post('/sign-out', (request, reply) =>
    visits.act(request, reply, 'everyone', async () => {
      sessions.end(request, reply);
      return 'sign-in';
    }),
  );

  if (forge === undefined) return;

  app.get('/sign-in/forge', async (request, reply) => {
    const [state, verifier] = [randomText(), randomText()];
    const to = pathOnly(new URLSearchParams(request.url.split('?')[1] ?? '').get('to') ?? '/');
    const { redirectUri } = forge;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    try {
      const url = await forge.oauth2.authorizeUrl({ redirectUri, state, challenge, scopes: signInScopes });
      // Lax: the forge’s answer is a visit that begins on its site, and must bring this along.
      const secure = isSecureHost(request, parts.dashboardUrl) ? '; Secure' : '';
      const value = [state, verifier, Buffer.from(to).toString('base64url')].join('.');
      reply.header(
        'set-cookie',
        `${stateCookie}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${stateSeconds}${secure}`,
      );
      return protect(reply).redirect(url, 303);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the forge does not say where people sign in');
      return showForm(request, reply.code(502), to, 'The forge cannot be asked now.');
    }
  });

  app.get(signInPath, async (request, reply) => {
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'));
    const [state = '', verifier = '', to = ''] = (readCookie(request, stateCookie) ?? '').split('.');
    if (state === '' || !isSame(query.get('state') ?? '', state)) {
      return fail(
        request,
        reply.code(403),
        'This sign-in was not begun in this browser, or too long ago: begin again.',
      );
    }
    const code = query.get('code');
    if (code === null) {
      return fail(
        request,
        reply.code(403),
        'The forge says that you did not allow Reeve to see who you are.',
      );
    }
    try {
      const tokens = await forge.oauth2.redeem(code, { verifier, redirectUri: forge.redirectUri });
      const client = createPersonalClient({
        ...{ url: forge.url, oauth2: forge.oauth2, tokens, nowMs: parts.nowMs },
      });
      const viewer = await personOf(client, parts.nowMs);
      sessions.start(request, reply, viewer);
      log.info({ viewer: viewer.name, operator: viewer.isOperator }, 'signed in to the dashboard');
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'a sign-in with a forge account failed');
      return fail(request, reply.code(502), 'The forge did not accept the sign-in: begin again.');
    }
    forgetState(reply);
    // A redirect would still count as coming from the forge’s site, and the browser keep the session to itself.
    const leadsTo = `${rootOf(request)}${pathOnly(Buffer.from(to, 'base64url').toString('utf8')).slice(1)}`;
    const content = html`<p>You are signed in: <a href="${leadsTo}">go on</a>.</p>`;
    return visits.showStranger(request, reply, { title: 'Signed in', content }, { leadsTo });
  });
}

/** Only a path of our own pages is led to: letters and digits, dashes and slashes, and what a filter of a list says. */
function pathOnly(to: string): string {
  return /^\/[a-z]*(\/[\w-]+)*(\?[\w=&%.+-]*)?$/.test(to) ? to : '/';
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function forgetState(reply: FastifyReply): void {
  // Beside the cookie of the session, not instead of it.
  const before = reply.getHeader('set-cookie');
  const gone = `${stateCookie}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`;
  reply.removeHeader('set-cookie');
  for (const one of [before, gone].flat()) if (one !== undefined) reply.header('set-cookie', String(one));
}
