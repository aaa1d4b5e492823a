import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether a given secret (a password, token, signature, or header value) equals the expected one, in constant
 * time. Both are hashed first, so that their lengths do not leak either.
 *
 * This is the only comparison of secrets in Reeve; a test rejects any other.
 */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return isSameDigest(digestOfSecret(given), digestOfSecret(expected));
}

/** Returns the digest of a secret for comparison. For frequent comparisons, hash the expected secret once. */
export function digestOfSecret(secret: string | Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns whether two values of `digestOfSecret` are equal, in constant time. */
export function isSameDigest(given: Buffer, expected: Buffer): boolean {
  return timingSafeEqual(given, expected);
}

/**
 * CSRF tokens of forms. Browsers also send credentials with requests that another site triggers, so each form carries a
 * token that only a page of Reeve, shown to this user for this purpose, contains.
 */
interface CsrfTokens {
  /** Returns the token of a form for a user and a purpose. */
  tokenFor(who: string, purpose: string): string;
  /** Returns whether a token is valid for the form. Constant-time comparison. */
  isValid(mark: string, who: string, purpose: string): boolean;
}

/**
 * Creates the tokens. The default secret lasts as long as the process, so forms of an earlier process have to be
 * reloaded.
 */
export function createCsrfTokens(secret: Uint8Array = randomBytes(32)): CsrfTokens {
  const tokenFor = (who: string, purpose: string): string =>
    createHmac('sha256', secret).update(`${who}\0${purpose}`).digest('hex');
  return {
    tokenFor,
    isValid: (mark, who, purpose) => isSameSecret(mark, tokenFor(who, purpose)),
  };
}

/**
 * Returns whether the browser reports that another site triggered the request. Browsers without these headers are
 * accepted.
 */
export function isSentByOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
