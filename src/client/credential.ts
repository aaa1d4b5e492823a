import { isSameSecret } from '../platform/http/constant-time-equal.ts';
import type { Log } from '../platform/log.ts';
import { createRedactor, type Redact } from '../platform/redactor.ts';
import { authorizationOf, type Credentials, secretsOf } from './credentials.ts';

/** The credential of a client. It is replaced when its file changes. */
export interface Credential {
  headers(): { readonly authorization?: string };
  /**
   * Reads the credential again because the forge refused the `used` one. Returns whether it is different
   * now: then the request may be repeated.
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
  // Forgejo repeats an unknown token in its answer, and answers are recorded.
  const redactorOf = (secrets: readonly string[]): Redact => createRedactor(secrets, { minLength: 1 });
  let redact = redactorOf(credentials ? secretsOf(credentials) : []);

  return {
    headers: () => (authorization === undefined ? {} : { authorization }),
    renew(used) {
      // Another request may have read it in the meantime.
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
