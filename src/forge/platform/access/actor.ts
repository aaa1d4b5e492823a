import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ForgeContext } from '../context.ts';
import { ForgeProblem } from '../errors.ts';
import type { TokenRow, UserRow } from '../rows.ts';
import { secondsOf } from '../time.ts';
import { isPublicOnly, missingScopes, type Scope } from './scopes.ts';
import { readAccessToken, scopesOfGrant } from './signed-tokens.ts';

/** The caller of a request, and the permissions of its credential. */
export type Actor = {
  /** The calling account; undefined for an anonymous caller. */
  readonly user: UserRow | undefined;
  /** Scopes of the token; undefined if the credential is not limited by scopes (a password). */
  readonly scopes: readonly string[] | undefined;
  /** The token used, if any. */
  readonly token: TokenRow | undefined;
  /** Whether the credential was sent as Basic authentication, with a password or with a token in its place. */
  readonly isBasic: boolean;
  /** Whether the token was sent in the query, which is deprecated. */
  readonly isQuery?: boolean;
};

/** Parts of a request that identify the caller. */
type RequestCredentials = {
  /** Network address of the sender; wrong passwords are counted per address. */
  readonly address: string;
  readonly authorization: string | undefined;
  /** `?token=` or `?access_token=`. */
  readonly queryToken: string | undefined;
  /** `?sudo=` or the header `Sudo`: a site administrator acts as another account. */
  readonly sudo: string | undefined;
};

/**
 * Token requirement of a route: the scopes that a token must have (an empty list accepts any token), or `password`,
 * which accepts no token.
 */
export type TokenNeed =
  | readonly Scope[]
  | 'password'
  | { readonly scopes: readonly Scope[]; readonly refuse: (lacking: readonly Scope[]) => ForgeProblem };

/** Returns the credentials in a request's `Authorization` header, for routes that accept no other credentials. */
export function headerCredentials(request: FastifyRequest): RequestCredentials {
  const { authorization } = request.headers;
  return { address: request.ip, authorization, queryToken: undefined, sudo: undefined };
}

const anonymous: Actor = { user: undefined, scopes: undefined, token: undefined, isBasic: false };

/** Returns the SHA-256 of a token, the only form in which tokens are stored. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Creates the function that identifies the caller of a request by its credentials; no other code maps a request to an
 * account. Every route declares its token requirement; a missing scope ends the request with 403. Wrong credentials end
 * the request with 401, even if the route requires none; a header with another scheme, or one that is not exactly two
 * words, counts as no credential.
 */
export function createActorReader(
  context: Pick<ForgeContext, 'db' | 'clock' | 'passwords'>,
): (credentials: RequestCredentials, need: TokenNeed) => Promise<Actor> {
  const { db, clock, passwords } = context;

  function userNamed(name: string): UserRow | undefined {
    return db.get<UserRow>('SELECT * FROM users WHERE lower_name = ?', name.toLowerCase());
  }

  function byToken(text: string, isBasic: boolean): Actor | undefined {
    if (text.includes('.')) return byGrant(text, isBasic);
    const token = db.get<TokenRow>('SELECT * FROM tokens WHERE digest = ?', tokenDigest(text));
    if (!token) return undefined;
    const now = secondsOf(clock());
    // Updating once a minute is precise enough to see whether a token is in use, and avoids a write on every read.
    if (now - token.last_used_at >= 60)
      db.run('UPDATE tokens SET last_used_at = ? WHERE id = ?', now, token.id);
    const user = db.get<UserRow>('SELECT * FROM users WHERE id = ?', token.user_id);
    // The cast is safe: this forge writes the column.
    return user && { user, scopes: JSON.parse(token.scopes) as string[], token, isBasic };
  }

  /**
   * Returns the caller of an OAuth2 access token, which contains dots. The grant contains the permissions of the token,
   * so revoking the grant revokes the token.
   */
  function byGrant(text: string, isBasic: boolean): Actor | undefined {
    const grant = readAccessToken({ db, clock }, text);
    const user = grant && db.get<UserRow>('SELECT * FROM users WHERE id = ?', grant.user_id);
    return user && { user, scopes: scopesOfGrant(grant.scope), token: undefined, isBasic };
  }

  async function byBasic(encoded: string, address: string): Promise<Actor> {
    const decoded = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = decoded.indexOf(':');
    if (colon < 0) return anonymous;
    const [name, password] = [decoded.slice(0, colon), decoded.slice(colon + 1)];
    const token = password === '' || password === 'x-oauth-basic' ? name : password;
    const actor = byToken(token, true);
    if (actor) return actor;
    const user = userNamed(name) ?? userByEmail(name);
    const isRight = await passwords.check({ address, name, user, password });
    if (!user || !isRight) throw unauthorized();
    return { user, scopes: undefined, token: undefined, isBasic: true };
  }

  function userByEmail(email: string): UserRow | undefined {
    if (!email.includes('@')) return undefined;
    return db.get<UserRow>(
      'SELECT u.* FROM email_addresses e JOIN users u ON u.id = e.user_id WHERE e.lower_email = lower(?)',
      email,
    );
  }

  async function byHeader(header: string, address: string): Promise<Actor> {
    const words = header.split(' ');
    const [scheme = '', value = ''] = words;
    if (words.length !== 2) return anonymous;
    if (/^(token|bearer)$/i.test(scheme)) return requireActor(byToken(value, false));
    return /^basic$/i.test(scheme) ? byBasic(value, address) : anonymous;
  }

  async function read({ address, authorization, queryToken, sudo }: RequestCredentials): Promise<Actor> {
    const actor = queryToken
      ? { ...requireActor(byToken(queryToken, false)), isQuery: true }
      : authorization
        ? await byHeader(authorization, address)
        : anonymous;
    if (actor.user) refuseBlockedAccount(actor.user);
    if (!sudo || !actor.user) return limitActor(actor);
    if (!actor.user.is_admin) throw new ForgeProblem(403, 'Only administrators allowed to sudo.', 'message');
    const other = userNamed(sudo);
    if (!other) throw new ForgeProblem(404, 'user does not exist');
    return limitActor({ ...actor, user: other });
  }

  return async (credentials, need) => {
    const actor = await read(credentials);
    requireScopes(actor, need);
    return actor;
  };
}

/** Returns whether the credential of a caller covers these scopes. */
export function hasScopes({ scopes: held }: Pick<Actor, 'scopes'>, scopes: readonly Scope[]): boolean {
  return held === undefined || missingScopes(held, scopes).length === 0;
}

/**
 * Ends the request if the caller's token lacks a required scope. A route calls this function itself if it knows the
 * required scope only after the caller.
 */
export function requireScopes({ scopes: held }: Actor, need: TokenNeed): void {
  if (!held) return;
  if (need === 'password') throw new ForgeProblem(401, 'only a password signs in here');
  const { scopes, refuse } = 'refuse' in need ? need : { scopes: need, refuse: lacksScopes };
  const lacking = missingScopes(held, scopes);
  if (lacking.length > 0) throw refuse(lacking);
}

function lacksScopes(lacking: readonly Scope[]): ForgeProblem {
  const text = `token does not have at least one of required scope(s): ${lacking.join(', ')}`;
  return new ForgeProblem(403, text);
}

/**
 * Marks the account if its token is restricted to public resources, so that every permission check applies the
 * restriction.
 */
function limitActor(actor: Actor): Actor {
  if (!actor.user || !isPublicOnly(actor.scopes)) return actor;
  return { ...actor, user: { ...actor.user, is_public_only: true } };
}

function requireActor(actor: Actor | undefined): Actor {
  if (!actor) throw unauthorized();
  return actor;
}

function unauthorized(): ForgeProblem {
  return new ForgeProblem(401, 'user does not exist or the credentials are wrong');
}

function refuseBlockedAccount(user: UserRow): void {
  if (!user.is_active || user.prohibit_login) {
    throw new ForgeProblem(403, 'This account is prohibited from signing in.', 'message');
  }
  if (user.must_change_password) {
    throw new ForgeProblem(403, 'You must change your password first.', 'message');
  }
}
