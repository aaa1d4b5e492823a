import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import { createCsrfTokens, isSentByOtherSite } from '../../platform/http/constant-time-equal.ts';
import { type FormFields, formFieldsOf } from '../../platform/http/form.ts';
import { type Html, html } from '../../platform/http/html.ts';
import { page, policy } from '../pages/page.ts';
import { createActorReader, headerCredentials } from '../platform/access/actor.ts';
import { scopesOfGrant } from '../platform/access/signed-tokens.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { OAuth2ApplicationRow, UserRow } from '../platform/rows.ts';
import { allowsAddress, applicationOf, grantOf, insertCode, insertGrant } from './oauth2-service.ts';

/** A browser session on the pages where users sign in and authorize an application. */
type ForgeSession = { readonly id: string; readonly userId: number | undefined };

/**
 * Browser sessions, kept in memory: users must sign in again after a restart. Each form carries a CSRF token that is
 * bound to the session and to the purpose of the form, so only a page of this forge can contain the token.
 */
interface ForgeSessions {
  /** Returns the session of a browser; creates a session and its cookie if the browser has none. */
  open(request: FastifyRequest, reply: FastifyReply): ForgeSession;
  /** Binds the session to a user under a new id, which cannot be predicted. */
  signIn(session: ForgeSession, reply: FastifyReply, userId: number): ForgeSession;
  csrfToken(session: ForgeSession, purpose: string): string;
  /** Returns whether a CSRF token is valid and the request was not sent by another site. */
  hasCsrfToken(request: FastifyRequest, session: ForgeSession, purpose: string, mark: string): boolean;
}

const cookie = 'forge_session';
const lifeSeconds = 3600;
const maxSessions = 10_000;

/** Creates the session store; `isSecure` returns whether users reach the forge over HTTPS. */
function createForgeSessions(options: { clock: () => Date; isSecure: () => boolean }): ForgeSessions {
  const csrfTokens = createCsrfTokens();
  const kept = new BoundedMap<string, { readonly userId: number | undefined; readonly endsAt: number }>(
    maxSessions,
  );

  function start(reply: FastifyReply, userId: number | undefined): ForgeSession {
    const id = randomBytes(32).toString('base64url');
    kept.set(id, { userId, endsAt: options.clock().getTime() + lifeSeconds * 1000 });
    const flags = { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: lifeSeconds } as const;
    reply.setCookie(cookie, id, { ...flags, secure: options.isSecure() });
    return { id, userId };
  }

  return {
    open(request, reply) {
      const id = request.cookies[cookie] ?? '';
      const known = kept.get(id);
      if (known && known.endsAt > options.clock().getTime()) return { id, userId: known.userId };
      kept.delete(id);
      return start(reply, undefined);
    },
    signIn(session, reply, userId) {
      kept.delete(session.id);
      return start(reply, userId);
    },
    csrfToken: ({ id }, purpose) => csrfTokens.tokenFor(id, purpose),
    hasCsrfToken: (request, { id }, purpose, mark) =>
      !isSentByOtherSite(request.headers) && csrfTokens.isValid(mark, id, purpose),
  };
}

/** Parameters of an authorization request (RFC 6749, section 4.1.1; RFC 7636, section 4.3). */
const members = [
  ...['client_id', 'redirect_uri', 'response_type', 'state', 'scope', 'nonce'],
  ...['code_challenge', 'code_challenge_method'],
] as const;
type AuthorizeQuery = Readonly<Record<(typeof members)[number], string>>;

type AuthorizeRequest = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: ForgeSession;
  readonly form: FormFields;
  readonly asked: AuthorizeQuery;
  readonly application: OAuth2ApplicationRow;
};

/** Context shared by the pages. */
type AuthorizeContext = {
  readonly context: ForgeContext;
  readonly sessions: ForgeSessions;
  readonly readActor: ReturnType<typeof createActorReader>;
};

/**
 * Registers the pages where a user signs in and authorizes an application. The pages contain no scripts, and only the
 * forge's own pages can send their forms. Redirects go only to addresses that the application has registered.
 */
export function registerAuthorize(app: FastifyInstance, context: ForgeContext): void {
  const isSecure = () => context.rootUrl().startsWith('https:');
  const sessions = createForgeSessions({ clock: context.clock, isSecure });
  const signIn: AuthorizeContext = { context, sessions, readActor: createActorReader(context) };

  app.get('/login/oauth/authorize', (request, reply) => {
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'));
    const fields = { get: (name: string) => query.get(name) ?? '' };
    return visit(signIn, request, reply, fields, (seen) => showFirstPage(signIn, seen));
  });
  app.post('/login/oauth/sign-in', (request, reply) =>
    visit(signIn, request, reply, formFieldsOf(request.body), (seen) => acceptPassword(signIn, seen)),
  );
  app.post('/login/oauth/grant', (request, reply) =>
    visit(signIn, request, reply, formFieldsOf(request.body), (seen) => acceptConsent(signIn, seen)),
  );
}

/** Validates the authorization request, then responds within the browser's session. */
async function visit(
  { context, sessions }: AuthorizeContext,
  request: FastifyRequest,
  reply: FastifyReply,
  form: FormFields,
  answer: (seen: AuthorizeRequest) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  // The cast is safe: `members` lists all fields of the type. Each field has the first value of its parameter.
  const asked = Object.fromEntries(members.map((name) => [name, form.get(name)])) as AuthorizeQuery;
  const application = applicationOf(context, asked.client_id);
  setPageHeaders(
    reply,
    application && allowsAddress(application, asked.redirect_uri) ? asked.redirect_uri : undefined,
  );
  if (!application) return refuse(reply, 'Client ID not registered');
  if (!allowsAddress(application, asked.redirect_uri)) return refuse(reply, 'Unregistered Redirect URI');
  const problem = problemOf(asked, application);
  if (problem) return sendBack(reply, asked, problem);
  const session = sessions.open(request, reply);
  return answer({ request, reply, session, form, asked, application });
}

function signedInUser({ db }: ForgeContext, { userId }: ForgeSession): UserRow | undefined {
  const user = db.get<UserRow>('SELECT * FROM users WHERE id = ?', userId ?? 0);
  return user?.is_active && !user.prohibit_login && !user.must_change_password ? user : undefined;
}

/**
 * Shows the sign-in form or the consent form. Sends the code at once if the user has authorized the application before
 * and the application is confidential or skips the repeated consent.
 */
function showFirstPage({ context, sessions }: AuthorizeContext, seen: AuthorizeRequest): FastifyReply {
  const { reply, asked, application, session } = seen;
  const user = signedInUser(context, session);
  if (!user) return show(reply, 'Sign in', signInForm(sessions, seen, ''));
  const grant = grantOf(context, application, user);
  const isKnown = application.is_confidential || application.skip_secondary_authorization;
  if (grant && isKnown) return sendCode(reply, asked, insertCode(context, grant, termsOf(asked)));
  return show(reply, `Allow ${application.name}?`, consentForm({ context, sessions }, seen, user));
}

async function acceptPassword(
  { sessions, readActor }: AuthorizeContext,
  seen: AuthorizeRequest,
): Promise<FastifyReply> {
  const { request, reply, session, form, asked } = seen;
  if (!sessions.hasCsrfToken(request, session, 'sign-in', form.get('mark'))) return refuse(reply, stale, 403);
  const words = `${form.get('user_name')}:${form.get('password')}`;
  try {
    const authorization = `Basic ${Buffer.from(words).toString('base64')}`;
    // Only a password is accepted: signing in with a token would give an application more access than the token has.
    const actor = await readActor({ ...headerCredentials(request), authorization }, 'password');
    if (!actor.user) throw new ForgeProblem(401, 'only a password signs in here');
    sessions.signIn(session, reply, actor.user.id);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    const isGuesser = error.status === 429;
    const text = isGuesser ? 'Too many wrong passwords: wait a minute.' : 'Wrong name or password.';
    return show(reply.code(error.status).headers(error.headers), 'Sign in', signInForm(sessions, seen, text));
  }
  return reply.redirect(`/login/oauth/authorize?${new URLSearchParams(asked)}`, 303);
}

function acceptConsent({ context, sessions }: AuthorizeContext, seen: AuthorizeRequest): FastifyReply {
  const { request, reply, session, form, asked, application } = seen;
  const user = signedInUser(context, session);
  const isMarked = sessions.hasCsrfToken(request, session, purposeOf(asked), form.get('mark'));
  if (!user || !isMarked) return refuse(reply, stale, 403);
  if (form.get('granted') !== 'true') {
    return sendBack(reply, asked, { error: 'access_denied', text: 'the request is denied' });
  }
  const grant = grantOf(context, application, user) ?? insertGrant(context, application, user, asked.scope);
  if (grant.scope !== asked.scope) {
    return sendBack(reply, asked, { error: 'server_error', text: 'a grant exists with different scope' });
  }
  return sendCode(reply, asked, insertCode(context, grant, termsOf(asked)));
}

function signInForm(sessions: ForgeSessions, { session, asked }: AuthorizeRequest, problem: string): Html {
  return html`${problem === '' ? undefined : html`<p role="alert">${problem}</p>`}
<form method="post" action="/login/oauth/sign-in">${hidden(asked, sessions.csrfToken(session, 'sign-in'))}
<p><label>Name or e-mail <input name="user_name" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p></form>`;
}

function consentForm(
  { context, sessions }: Pick<AuthorizeContext, 'context' | 'sessions'>,
  { session, asked, application }: AuthorizeRequest,
  user: UserRow,
): Html {
  const maker = context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', application.user_id);
  const scopes = scopesOfGrant(asked.scope).join(', ');
  return html`<p><strong>${application.name}</strong>, made by ${maker?.name ?? 'an unknown account'}, asks to act as
<strong>${user.name}</strong>. It will be allowed: ${scopes}. You will be sent to <strong>${asked.redirect_uri}</strong>.</p>
<form method="post" action="/login/oauth/grant">${hidden(asked, sessions.csrfToken(session, purposeOf(asked)))}
<p><button name="granted" value="true">Allow</button> <button name="granted" value="false">Refuse</button></p></form>`;
}

const stale = 'this form has expired: start again from the application';

/** Returns the purpose of a consent form, so that a consent applies only to the exact request that was shown. */
function purposeOf(asked: AuthorizeQuery): string {
  return JSON.stringify(members.map((name) => asked[name]));
}

function termsOf(asked: AuthorizeQuery) {
  return {
    redirectUri: asked.redirect_uri,
    challenge: asked.code_challenge,
    challengeMethod: asked.code_challenge_method,
    nonce: asked.nonce,
  };
}

type AuthorizeProblem = { readonly error: string; readonly text: string };

function problemOf(asked: AuthorizeQuery, application: OAuth2ApplicationRow): AuthorizeProblem | undefined {
  if (asked.response_type !== 'code') {
    return { error: 'unsupported_response_type', text: 'Only code response type is supported.' };
  }
  const method = asked.code_challenge_method;
  if (method === 'S256' || method === 'plain') return undefined;
  if (method !== '') return { error: 'invalid_request', text: 'unsupported code challenge method' };
  if (application.is_confidential) return undefined;
  return { error: 'invalid_request', text: 'PKCE is required for public clients' };
}

function sendBack(reply: FastifyReply, asked: AuthorizeQuery, problem: AuthorizeProblem): FastifyReply {
  const address = new URL(asked.redirect_uri);
  address.searchParams.set('error', problem.error);
  address.searchParams.set('error_description', problem.text);
  address.searchParams.set('state', asked.state);
  return reply.redirect(address.href, 303);
}

function sendCode(reply: FastifyReply, asked: AuthorizeQuery, code: string): FastifyReply {
  const address = new URL(asked.redirect_uri);
  if (asked.state !== '') address.searchParams.set('state', asked.state);
  address.searchParams.set('code', code);
  return reply.redirect(address.href, 303);
}

function refuse(reply: FastifyReply, text: string, status = 400): FastifyReply {
  return show(reply.code(status), 'Not allowed', html`<p>${text}</p>`);
}

function show(reply: FastifyReply, title: string, content: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page({ title, content }));
}

/**
 * Sets the headers of a page. Browsers also apply the form policy to redirects, so it must include the application's
 * address.
 */
function setPageHeaders(reply: FastifyReply, address: string | undefined): void {
  const origin = address === undefined ? '' : ` ${new URL(address).origin}`;
  reply.headers({
    'content-security-policy': policy.replace(/form-action [^;]*/, `form-action 'self'${origin}`),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
}

function hidden(asked: AuthorizeQuery, mark: string): Html[] {
  const fields = [...members.map((name) => [name, asked[name]] as const), ['mark', mark] as const];
  return fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}
