import { ReeveError } from '../platform/errors.ts';
import { isSameSecret } from '../platform/http/constant-time-equal.ts';
import type { Log } from '../platform/log.ts';
import { createRedactor, type Redact } from '../platform/redactor.ts';

/** Credentials of Reeve: a token (sent as `token …` or `Bearer …`) or an account's name and password. */
export type Credentials =
  | { readonly token: string; readonly scheme?: 'token' | 'Bearer' }
  | { readonly user: string; readonly password: string };

/** A forge with its credentials. */
export type SignedIn = {
  readonly url: string;
  readonly credentials: Credentials;
  /** Reads the credentials again if they are in a file; undefined if the file cannot be read. */
  readonly readCredentials?: () => Credentials | undefined;
};

/** Returns the value of the `Authorization` header. Refuses credentials that a header cannot contain unchanged. */
function authorizationOf(credentials: Credentials): string {
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

/** The credential of a client. It is replaced when its file changes. */
export interface Credential {
  headers(): { readonly authorization?: string };
  /**
   * Reads the credential again because the forge refused the `used` one. Returns whether the credential has changed, so
   * that the request may be repeated.
   */
  renew(used: string | undefined): boolean;
  /** Redacts all credentials used so far. */
  readonly redact: Redact;
}

/** Creates the credential of a client; without credentials its requests are anonymous. */
export function createCredential(options: {
  readonly credentials?: Credentials;
  readonly readCredentials?: () => Credentials | undefined;
  readonly log?: Log;
}): Credential {
  const { credentials, readCredentials, log } = options;
  let authorization = credentials && authorizationOf(credentials);
  // Forgejo echoes an unknown token in its response, and responses are recorded.
  const redactorOf = (secrets: readonly string[]): Redact => createRedactor(secrets, { minLength: 1 });
  let redact = redactorOf(credentials ? secretsOf(credentials) : []);

  return {
    headers: () => (authorization === undefined ? {} : { authorization }),
    renew(used) {
      // Another request may have renewed the credential in the meantime.
      if (!isSameValue(used, authorization)) return true;
      const read = used === undefined ? undefined : readCredentials?.();
      if (read === undefined || isSameValue(authorizationOf(read), used)) return false;
      const [former, next] = [redact, redactorOf(secretsOf(read))];
      redact = (text) => next(former(text));
      authorization = authorizationOf(read);
      log?.info(
        {},
        'the forge refused the credential; its file contains another one, which is used from now on',
      );
      return true;
    },
    redact: (text) => redact(text),
  };
}

function isSameValue(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isSameSecret(one, other);
}
