import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether a given secret (a password, token, signature, or header value) equals the expected one. The time depends on
 * neither value: both are hashed first, so that their lengths do not show either.
 *
 * This is the only comparison of secrets in Reeve; a test rejects any other.
 */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return isSameDigest(digestOfSecret(given), digestOfSecret(expected));
}

/** Returns the digest under which a secret is compared. For values that are compared often: hash the expected one once. */
export function digestOfSecret(secret: string | Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns whether two values of `digestOfSecret` are equal, in constant time. */
export function isSameDigest(given: Buffer, expected: Buffer): boolean {
  return timingSafeEqual(given, expected);
}

/**
 * CSRF tokens of forms. A browser sends credentials with requests that another site causes, so a form also carries a token
 * that only a page of Reeve, shown to this person for this purpose, contains.
 */
interface CsrfTokens {
  /** Returns the token of a form for a person and a purpose. */
  tokenFor(who: string, purpose: string): string;
  /** Returns whether a token is that of the form. Constant-time comparison. */
  isValid(mark: string, who: string, purpose: string): boolean;
}

/** Creates the tokens. By default their secret lives as long as the process: forms of an earlier process have to be loaded again. */
export function createCsrfTokens(secret: Uint8Array = randomBytes(32)): CsrfTokens {
  const tokenFor = (who: string, purpose: string): string =>
    createHmac('sha256', secret).update(`${who}\0${purpose}`).digest('hex');
  return {
    tokenFor,
    isValid: (mark, who, purpose) => isSameSecret(mark, tokenFor(who, purpose)),
  };
}

/** Returns whether a browser says that another site made it send this. Browsers that say nothing are not accused. */
export function isSentByOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
