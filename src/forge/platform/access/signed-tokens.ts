import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { ForgeContext } from '../context.ts';
import type { Database } from '../database.ts';
import type { OAuth2GrantRow } from '../rows.ts';
import { secondsOf } from '../time.ts';
import { normalizeScopes } from './scopes.ts';

type TokenContext = Pick<ForgeContext, 'db' | 'clock'>;

/** Lifetimes of access and refresh tokens, in seconds. */
export const accessSeconds = 3600;
const refreshSeconds = 730 * 3600;

/** Claims of a token: its grant, and whether it is an access (0) or a refresh (1) token. */
type Claims = { readonly gnt: number; readonly tt: 0 | 1; readonly exp: number; readonly iat: number };

/** Signing keys, read once per database. Generating a key takes a moment, so it happens on first use. */
const keys = new WeakMap<Database, KeyObject>();

function privateKeyOf({ db, clock }: TokenContext): KeyObject {
  const known = keys.get(db);
  if (known) return known;
  const row = db.get<{ private_key: string }>(`SELECT private_key FROM signing_keys WHERE name = 'oauth2'`);
  const key = row ? createPrivateKey(row.private_key) : makeKey({ db, clock });
  keys.set(db, key);
  return key;
}

function makeKey({ db, clock }: TokenContext): KeyObject {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  db.run(
    `INSERT INTO signing_keys (name, private_key, created_at) VALUES ('oauth2', ?, ?)`,
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    secondsOf(clock()),
  );
  return privateKey;
}

/** Returns the public half of the signing key as a JWK, for clients that verify tokens themselves. */
export function publicKeyOf(part: TokenContext): object {
  const key = createPublicKey(privateKeyOf(part)).export({ format: 'jwk' });
  return { ...key, alg: 'RS256', use: 'sig', kid: 'oauth2' };
}

/** Returns claims as a signed JWT (RS256). */
export function signToken(part: TokenContext, claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'oauth2' })}.${encode(claims)}`;
  return `${body}.${sign('sha256', Buffer.from(body), privateKeyOf(part)).toString('base64url')}`;
}

/** Returns new tokens for a grant. */
export function signTokens(part: TokenContext, grant: OAuth2GrantRow): { access: string; refresh: string } {
  const iat = secondsOf(part.clock());
  const make = (tt: 0 | 1, seconds: number) =>
    signToken(part, { gnt: grant.id, tt, exp: iat + seconds, iat });
  return { access: make(0, accessSeconds), refresh: make(1, refreshSeconds) };
}

/** Returns the grant of a valid access token signed by this forge, or undefined. */
export function readAccessToken(part: TokenContext, text: string): OAuth2GrantRow | undefined {
  return readToken(part, text, 0);
}

/** Returns the grant of a valid refresh token signed by this forge, or undefined. */
export function readRefreshToken(part: TokenContext, text: string): OAuth2GrantRow | undefined {
  return readToken(part, text, 1);
}

function readToken(part: TokenContext, text: string, kind: 0 | 1): OAuth2GrantRow | undefined {
  const [head = '', body = '', signature = '', ...more] = text.split('.');
  if (more.length > 0 || signature === '' || !hasOurSignature(part, `${head}.${body}`, signature))
    return undefined;
  // This forge signed the token, so the claims are those that `signTokens` wrote, or those of an id token, which has no
  // grant.
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Partial<Claims>;
  if (claims.gnt === undefined || claims.tt !== kind) return undefined;
  if ((claims.exp ?? 0) <= secondsOf(part.clock())) return undefined;
  return part.db.get<OAuth2GrantRow>('SELECT * FROM oauth2_grants WHERE id = ?', claims.gnt);
}

/** Returns whether this forge signed a token. The algorithm is fixed, regardless of the token's header. */
function hasOurSignature(part: TokenContext, body: string, signature: string): boolean {
  const key = createPublicKey(privateKeyOf(part));
  return verify('sha256', Buffer.from(body), key, Buffer.from(signature, 'base64url'));
}

const general = new Set(['openid', 'profile', 'email', 'groups']);

/**
 * Returns the token scopes of a grant: the scopes that it names other than the general ones, or `all` if there are none
 * or one of them is unknown.
 */
export function scopesOfGrant(scope: string): readonly string[] {
  const named = scope.split(' ').filter((word) => word !== '' && !general.has(word));
  if (named.length === 0) return ['all'];
  const normal = normalizeScopes(named);
  return 'unknown' in normal ? ['all'] : normal.scopes;
}
