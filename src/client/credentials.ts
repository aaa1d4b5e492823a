import { ReeveError } from '../platform/errors.ts';

/** Credentials of Reeve: a token (sent as `token …` or `Bearer …`) or an account's name and password. */
export type Credentials =
  | { readonly token: string; readonly scheme?: 'token' | 'Bearer' }
  | { readonly user: string; readonly password: string };

/** A forge and the credentials for it. */
export type SignedIn = {
  readonly url: string;
  readonly credentials: Credentials;
  /** Reads the credentials again if they are in a file; undefined if it cannot be read now. */
  readonly readCredentials?: () => Credentials | undefined;
};

/** Returns the value of the `Authorization` header. Refuses credentials that a header cannot contain unchanged. */
export function authorizationOf(credentials: Credentials): string {
  if ('token' in credentials) {
    if (!/^[\x21-\x7e]+$/.test(credentials.token)) {
      throw new ReeveError(
        'settings',
        'the forge token contains spaces or characters that a header cannot contain',
      );
    }
    return `${credentials.scheme ?? 'token'} ${credentials.token}`;
  }
  if (credentials.user.includes(':') || credentials.user === '') {
    throw new ReeveError('settings', 'the forge user is empty or contains a colon');
  }
  return `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
}

/** Returns the values of these credentials that must never be written anywhere. */
export function secretsOf(credentials: Credentials): readonly string[] {
  return 'token' in credentials
    ? [credentials.token]
    : [credentials.password, `${credentials.user}:${credentials.password}`];
}
