import { randomBytes } from 'node:crypto';
import { type Actor, tokenDigest } from '../platform/access/actor.ts';
import { coversScopes, normalizeScopes } from '../platform/access/scopes.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { TokenRow, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { toUser } from './users-rows.ts';
import { createAccount, readVisibility, shortestPassword } from './users-service.ts';

/** Handlers for `/user`, `/users/{username}` and account creation. */
export const userHandlers = defineHandlers({
  getSelf: ({ caller, context }) => toUser(context, caller, caller),

  getUser: ({ account, caller, context }) => toUser(context, account, caller),

  async createUser({ body, caller, context }) {
    if ((body.password ?? '').length < shortestPassword) throw new ForgeProblem(400, 'PasswordIsRequired');
    const account = await createAccount(context, {
      name: body.username,
      email: body.email,
      password: body.password,
      full_name: body.full_name,
      visibility: readVisibility(body.visibility),
      isRestricted: body.restricted,
      // Gitea's default for an account created by an administrator.
      mustChangePassword: body.must_change_password ?? true,
    });
    return toUser(context, account, caller);
  },
});

/** Returns a token as the API shows it; `sha1` is the token itself, known only in the response that creates it. */
function toToken(token: TokenRow, sha1 = '') {
  return {
    id: token.id,
    name: token.name,
    sha1,
    token_last_eight: token.last_eight,
    // The cast is safe: `createToken` writes this column.
    scopes: JSON.parse(token.scopes) as string[],
    created_at: toInstant(token.created_at),
    last_used_at: toInstant(token.last_used_at),
  };
}

function readScopes(actor: Actor, wanted: readonly string[]): readonly string[] {
  const normal = normalizeScopes(wanted);
  if ('unknown' in normal)
    throw new ForgeProblem(400, `invalid access token scope provided: ${normal.unknown}`);
  if (normal.scopes.length === 0) throw new ForgeProblem(400, 'access token must have a scope');
  if (actor.scopes && !coversScopes(actor.scopes, normal.scopes)) {
    throw new ForgeProblem(403, 'a token cannot have a wider scope than the one that makes it');
  }
  return normal.scopes;
}

/**
 * Returns the token that authenticates the request. It must be sent alone in the header, not as a password and not in
 * the query.
 */
function currentToken({ actor }: { readonly actor: Actor }): TokenRow {
  return found(actor.isBasic || actor.isQuery ? undefined : actor.token, 'invalid access token');
}

/** Handlers for personal access tokens. Only the SHA-256 of a token is stored. */
export const tokenHandlers = defineHandlers({
  createToken({ account, actor, body, context }) {
    const { db, clock } = context;
    const scopes = readScopes(actor, body.scopes ?? []);
    const secret = randomBytes(20).toString('hex');
    const row = db.transaction(() => {
      const isTaken = db.get(
        'SELECT 1 AS one FROM tokens WHERE user_id = ? AND name = ?',
        account.id,
        body.name,
      );
      if (isTaken) throw new ForgeProblem(400, 'access token name has been used already');
      const { lastId } = db.run(
        `INSERT INTO tokens (user_id, name, digest, last_eight, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
        account.id,
        body.name,
        tokenDigest(secret),
        secret.slice(-8),
        JSON.stringify(scopes),
        secondsOf(clock()),
      );
      return found(db.get<TokenRow>('SELECT * FROM tokens WHERE id = ?', lastId));
    });
    return toToken(row, secret);
  },

  getCurrentToken({ actor, context }) {
    const token = currentToken({ actor });
    // The token's owner, even if an administrator acts as another account.
    const sql = 'SELECT * FROM users WHERE id = ?';
    const user = found(context.db.get<UserRow>(sql, token.user_id));
    const { id, name, scopes, created_at, last_used_at } = toToken(token);
    return { id, name, scopes, created_at, last_used_at, user: { id: user.id, login: user.name } };
  },

  deleteCurrentToken({ actor, context }) {
    context.db.run('DELETE FROM tokens WHERE id = ?', currentToken({ actor }).id);
    return undefined;
  },

  listTokens({ account, context, page, reply }) {
    const { db } = context;
    const sql = 'SELECT count(*) AS count FROM tokens WHERE user_id = ?';
    reply.total(db.get<{ count: number }>(sql, account.id)?.count ?? 0);
    const rows = db.all<TokenRow>(
      'SELECT * FROM tokens WHERE user_id = ? ORDER BY id DESC LIMIT ? OFFSET ?',
      account.id,
      page.limit,
      page.offset,
    );
    return rows.map((row) => toToken(row));
  },

  deleteToken({ account, context, params }) {
    // A number is tried as an id first; a token whose name is a number is still found by name.
    const byId = /^\d{1,15}$/.test(params.token) ? Number(params.token) : 0;
    const token = found(
      context.db.get<TokenRow>(
        'SELECT * FROM tokens WHERE user_id = ?1 AND (id = ?2 OR name = ?3) ORDER BY id = ?2 DESC LIMIT 1',
        account.id,
        byId,
        params.token,
      ),
    );
    context.db.run('DELETE FROM tokens WHERE id = ?', token.id);
    return undefined;
  },
});
