import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WallClock } from '../../../platform/clock.ts';
import { isSameSecret, isSentByOtherSite } from '../../../platform/http/constant-time-equal.ts';
import type { FailureThrottle } from '../../../platform/http/failure-throttle.ts';
import { formFieldsOf } from '../../../platform/http/form.ts';
import { html } from '../../../platform/http/html.ts';
import type { Log } from '../../../platform/log.ts';
import type { PageView } from '../page.ts';
import type { PageHandler } from '../page-handler.ts';
import { isSecureHost, rootOf, setSecurityHeaders } from '../page-replies.ts';
import type { ForgeAccounts, ForgeSignIn } from './forge-accounts.ts';
import { pathOnly, registerForgeSignIn } from './forge-sign-in.ts';
import type { Sessions } from './sessions.ts';

type SignInParts = {
  readonly readPassword: () => Promise<string>;
  /** Absent: sign-in is only possible with the password. */
  readonly forge: ForgeSignIn | undefined;
  readonly dashboardUrl: string | undefined;
  readonly accounts: ForgeAccounts | undefined;
  /** Absent: a key that lasts as long as this process. */
  readonly signInKey?: Uint8Array | undefined;
  readonly sessions: Sessions;
  /** Creates a failure throttle per address. */
  readonly makeThrottle: () => FailureThrottle;
  readonly clock: WallClock;
  readonly log: Log;
};

/**
 * Returns the function that creates the sign-in page. `to` is the path to open afterwards; `problem` is the message
 * about a failed attempt.
 */
export function signInPage(dashboardUrl: string | undefined) {
  return (root: string, to: string, problem?: string): PageView => {
    const alert = problem === undefined ? undefined : html`<p role="alert">${problem}</p>`;
    const byForge =
      dashboardUrl && html`<p>${forgeLink(dashboardUrl, to)}: you see what you can read there.</p>`;
    const content = html`${alert}${byForge || undefined}
<form method="post" action="${root}sign-in"><input type="hidden" name="to" value="${pathOnly(to)}">
<input name="user" value="operator" autocomplete="username" hidden>
<p><label>Password of this installation <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></p></form>
<p><code>reeve password</code> shows it, on the machine of Reeve. It lets see everything.</p>`;
    return { title: 'Sign in', content };
  };
}

/**
 * Returns the link to sign in at the forge. The forge redirects only to the registered address, so the sign-in must
 * also start there, with the cookie of that host.
 */
function forgeLink(dashboardUrl: string, to: string) {
  const query = new URLSearchParams({ to: pathOnly(to) }).toString();
  return html`<a href="${dashboardUrl.replace(/\/+$/, '')}/sign-in/forge?${query}">Sign in with your forge account</a>`;
}

/** Registers sign-in and sign-out. */
export function registerSignIn(app: FastifyInstance, pageHandler: PageHandler, parts: SignInParts): void {
  const { sessions, forge, accounts, dashboardUrl, log } = parts;
  const throttle = parts.makeThrottle();
  const view = signInPage(forge && dashboardUrl);
  const showForm = (request: FastifyRequest, reply: FastifyReply, to: string, problem?: string) =>
    pageHandler.showSignedOut(request, reply, view(rootOf(request), to, problem));

  app.get('/sign-in', async (request, reply) => showForm(request, reply, '/'));

  app.post('/sign-in', async (request, reply) => {
    const form = formFieldsOf(request.body);
    const to = form.get('to');
    if (isSentByOtherSite(request.headers)) {
      return showForm(request, reply.code(403), to, 'Another site sent this form: sign in here.');
    }
    // Rejected without a comparison: otherwise the status would reveal whether a further guess is correct.
    if (throttle.isBlocked(request.ip)) {
      const blocked = reply.code(429).header('retry-after', '60');
      return showForm(request, blocked, to, 'Too many wrong passwords from your address: wait a minute.');
    }
    if (!isSameSecret(form.get('password'), await parts.readPassword())) {
      throttle.recordFailure(request.ip);
      log.warn({ address: request.ip }, 'a wrong password for the dashboard');
      return showForm(request, reply.code(401), to, 'This is not the password of this installation.');
    }
    await sessions.start(request, reply, { kind: 'password' });
    log.info({ address: request.ip }, 'signed in to the dashboard with its password');
    return setSecurityHeaders(reply).redirect(`${rootOf(request)}${pathOnly(to).slice(1)}`, 303);
  });

  app.post('/sign-out', (request, reply) =>
    pageHandler.act(request, reply, 'signing-out', async () => {
      await sessions.end(request, reply);
      return 'sign-in';
    }),
  );

  if (forge === undefined || accounts === undefined) return;
  registerForgeSignIn(app, pageHandler, {
    forge,
    accounts,
    signInKey: parts.signInKey,
    sessions,
    throttle: parts.makeThrottle(),
    log,
    clock: parts.clock,
    isSecure: (request) => isSecureHost(request, dashboardUrl),
    showForm: (request, reply, problem) => showForm(request, reply, '/', problem),
  });
}

/** Returns whether a request contains the password, as HTTP Basic with any user name. */
export function isSignedIn(authorization: string | undefined, password: string): boolean {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return false;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = given.indexOf(':');
  return isSameSecret(colon === -1 ? '' : given.slice(colon + 1), password);
}
