import { digestOfSecret, isSameDigest } from '../../platform/http/constant-time-equal.ts';
import type { SecretEntry } from './secrets.ts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the digest of a request's `Authorization` header; of the empty text if there is none. */
export function digestOfAuthorization(headers: RequestHeaders): Buffer {
  const given = headers.authorization;
  return digestOfSecret(typeof given === 'string' ? given : '');
}

/** Returns whether the digest is one of these; all are compared, whichever matches. */
export function isAuthorized(given: Buffer, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const live of digests) {
    if (isSameDigest(given, live)) found = true;
  }
  return found;
}

/**
 * Creates the check before the body: it returns false if every entry requires an `Authorization` header and the
 * digest matches none of their values. The body is then refused unread. An entry without a header value can still pass
 * by its signature, which covers the body; with such an entry the check passes every request.
 */
export function createHeaderCheck(entries: readonly SecretEntry[]): (given: Buffer) => boolean {
  if (entries.some((entry) => entry.authorization.length === 0)) return () => true;
  const digests = entries.flatMap((entry) => entry.authorization.map(digestOfSecret));
  return (given) => isAuthorized(given, digests);
}
