import { createHash, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../platform/http/constant-time-equal.ts';
import { tokenDigest } from '../platform/access/actor.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import type { OAuth2ApplicationRow, OAuth2GrantRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

type GrantContext = Pick<ForgeContext, 'db' | 'clock'>;

/** Lifetime of a code, in seconds. */
const codeSeconds = 600;

export function applicationOf({ db }: GrantContext, clientId: string): OAuth2ApplicationRow | undefined {
  return db.get<OAuth2ApplicationRow>('SELECT * FROM oauth2_applications WHERE client_id = ?', clientId);
}

/**
 * Returns whether an application may redirect to an address. The address must be registered, ignoring case and a
 * trailing slash, as in Gitea. A public client on loopback may use any port (RFC 8252, section 7.3).
 */
export function allowsAddress(application: OAuth2ApplicationRow, address: string): boolean {
  // The cast is safe: `oauth2.ts` writes this column.
  const registered = (JSON.parse(application.redirect_uris) as string[]).map(comparable);
  if (registered.includes(comparable(address))) return true;
  const url = URL.parse(address);
  const isLoopback = url?.protocol === 'http:' && /^(127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (application.is_confidential || !url || !isLoopback || url.port === '') return false;
  return registered.includes(comparable(address.replace(`:${url.port}`, '')));
}

function comparable(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/\/$/, '');
}

/** Returns whether a secret belongs to the application. */
export function isSecretOf(application: OAuth2ApplicationRow, secret: string): boolean {
  return isSameSecret(tokenDigest(secret), application.secret_digest);
}

/** Returns a user's grant for an application, or undefined. */
export function grantOf(
  { db }: GrantContext,
  application: OAuth2ApplicationRow,
  user: UserRow,
): OAuth2GrantRow | undefined {
  const sql = 'SELECT * FROM oauth2_grants WHERE application_id = ? AND user_id = ?';
  return db.get<OAuth2GrantRow>(sql, application.id, user.id);
}

/** Records a user's grant of these scopes to an application, and returns it. */
export function insertGrant(
  { db, clock }: GrantContext,
  application: OAuth2ApplicationRow,
  user: UserRow,
  scope: string,
): OAuth2GrantRow {
  const { lastId } = db.run(
    'INSERT INTO oauth2_grants (user_id, application_id, scope, created_at) VALUES (?, ?, ?, ?)',
    user.id,
    application.id,
    scope,
    secondsOf(clock()),
  );
  return found(db.get<OAuth2GrantRow>('SELECT * FROM oauth2_grants WHERE id = ?', lastId));
}

/** Constraints of a code: its redirect address, and the requester's PKCE challenge (RFC 7636). */
type CodeTerms = {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly challengeMethod: string;
  readonly nonce: string;
};

/** Creates and returns a code that is valid once, for ten minutes. */
export function insertCode({ db, clock }: GrantContext, grant: OAuth2GrantRow, terms: CodeTerms): string {
  const code = makeClientSecret('gta');
  const now = secondsOf(clock());
  db.run('DELETE FROM oauth2_codes WHERE expires_at < ?', now);
  if (terms.nonce !== '') db.run('UPDATE oauth2_grants SET nonce = ? WHERE id = ?', terms.nonce, grant.id);
  db.run(
    `INSERT INTO oauth2_codes (digest, grant_id, redirect_uri, challenge, challenge_method, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    tokenDigest(code),
    grant.id,
    terms.redirectUri,
    terms.challenge,
    terms.challengeMethod,
    now + codeSeconds,
  );
  return code;
}

type CodeRow = {
  readonly digest: string;
  readonly grant_id: number;
  readonly redirect_uri: string;
  readonly challenge: string;
  readonly challenge_method: string;
  readonly expires_at: number;
};

/** The error for a code, as the standard names it (RFC 6749, section 5.2). */
type CodeFailure = { readonly error: string; readonly error_description: string };

/** Consumes a code and returns its grant or an error; a wrong verifier does not consume the code. */
export function takeCode(
  { db, clock }: GrantContext,
  application: OAuth2ApplicationRow,
  given: { code: string; verifier: string; redirectUri: string },
): OAuth2GrantRow | CodeFailure {
  const row = db.get<CodeRow>('SELECT * FROM oauth2_codes WHERE digest = ?', tokenDigest(given.code));
  const grant = row && db.get<OAuth2GrantRow>('SELECT * FROM oauth2_grants WHERE id = ?', row.grant_id);
  const refuse = (error: string, error_description: string) => ({ error, error_description });
  if (!row || !grant) return refuse('unauthorized_client', 'client is not authorized');
  if (row.expires_at < secondsOf(clock())) return refuse('invalid_grant', 'authorization code expired');
  if (!meetsChallenge(row, given.verifier))
    return refuse('unauthorized_client', 'failed PKCE code challenge');
  if (row.redirect_uri !== '' && row.redirect_uri !== given.redirectUri) {
    return refuse('invalid_grant', 'redirect_uri differs from the original authorization request');
  }
  if (grant.application_id !== application.id) return refuse('invalid_grant', 'invalid grant');
  const { changes } = db.run('DELETE FROM oauth2_codes WHERE digest = ?', row.digest);
  return changes === 1 ? grant : refuse('invalid_grant', 'authorization code already used');
}

function meetsChallenge({ challenge, challenge_method }: CodeRow, verifier: string): boolean {
  if (challenge === '' && challenge_method === '') return true;
  if (verifier === '') return false;
  const derived =
    challenge_method === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  return isSameSecret(derived, challenge);
}

/** Returns a 256-bit secret with a prefix that secret scanners recognize. */
export function makeClientSecret(prefix: 'gto' | 'gta'): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const bits = [...randomBytes(32)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{1,5}/g) ?? [];
  return `${prefix}_${letters.map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`;
}
