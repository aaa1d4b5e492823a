import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether a request carries the password, as HTTP Basic of any user. Compared in constant time. */
export function isSignedIn(authorization: string | undefined, password: string): boolean {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return false;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = given.indexOf(':');
  const said = colon === -1 ? '' : given.slice(colon + 1);
  return isPassword(said, password);
}

/** Tells whether that is the password. Compared in constant time. */
export function isPassword(given: string, password: string): boolean {
  return timingSafeEqual(digest(given), digest(password));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
