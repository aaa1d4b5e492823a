import { isSameSecret } from '../http/constant-time-equal.ts';
import type { Log } from '../log.ts';
import { createRedactor, type Redact } from '../redactor.ts';
import { authorizationOf, type Credentials, secretsOf } from './credentials.ts';

/** The credential that a client signs in with. It changes when its file does. */
interface Credential {
  headers(): { readonly authorization?: string };
  /**
   * Reads the credential again because the forge refused the one that was `used`. Returns whether there is another one by
   * now: then the request may be sent again.
   */
  renew(used: string | undefined): boolean;
  /** Replaces every credential that there has been. */
  readonly redact: Redact;
}

/** Creates the credential of a client; without credentials it asks as a stranger. */
export function createCredential(options: {
  readonly credentials?: Credentials;
  readonly readCredentials?: () => Credentials | undefined;
  readonly log?: Log;
}): Credential {
  const { credentials, readCredentials, log } = options;
  let authorization = credentials && authorizationOf(credentials);
  // Forgejo repeats a token that it does not know in its answer, and what a forge answers is recorded.
  const redactorOf = (secrets: readonly string[]): Redact => createRedactor(secrets, { minLength: 1 });
  let redact = redactorOf(credentials ? secretsOf(credentials) : []);

  return {
    headers: () => (authorization === undefined ? {} : { authorization }),
    renew(used) {
      // Another request may have read it meanwhile.
      if (!isSame(used, authorization)) return true;
      const read = used === undefined ? undefined : readCredentials?.();
      if (read === undefined || isSame(authorizationOf(read), used)) return false;
      const [former, next] = [redact, redactorOf(secretsOf(read))];
      redact = (text) => next(former(text));
      authorization = authorizationOf(read);
      log?.info(
        {},
        'the forge refused the credential; its file holds another one, which is used from now on',
      );
      return true;
    },
    redact: (text) => redact(text),
  };
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isSameSecret(one, other);
}
