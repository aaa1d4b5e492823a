import { isSameSecret } from '../../../platform/http/constant-time-equal.ts';

/** Tells whether a request carries the password, as HTTP Basic of any user. */
export function isSignedIn(authorization: string | undefined, password: string): boolean {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return false;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = given.indexOf(':');
  return isSameSecret(colon === -1 ? '' : given.slice(colon + 1), password);
}
