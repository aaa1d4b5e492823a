import { hash, timingSafeEqual } from 'node:crypto';

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
