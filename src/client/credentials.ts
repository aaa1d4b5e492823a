import type { User } from '../contract/resources/users.ts';
import { isDenied, ReeveError } from '../platform/errors.ts';
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

/** Why a credential is not used, and what the operator can do. Contains no secret. */
export type Objection = { readonly reason: string; readonly remedy: string };

/** Decides whether a credential that was read again is used: its file may contain the token of any account. */
export type CredentialGuard = {
  /** Returns why the credential of this account is not used; undefined if it is. */
  readonly objectTo: (self: User) => Objection | undefined;
  /** Called with the reason while the file contains a credential that is not used, and without one afterwards. */
  readonly onKeptOut: (reason: string | undefined) => void;
};

/** Returns the account of an `Authorization` header; undefined if the forge refuses the credential. */
export type AskAccount = (authorization: string) => Promise<User | undefined>;

/** The credential of a client. It is replaced when its file changes. */
export interface Credential {
  headers(): { readonly authorization?: string };
  /**
   * Reads the credential again because the forge refused the `used` one. Returns whether the credential has changed, so
   * that the request may be repeated. With a guard, `ask` is called with the new credential before anything else is, and
   * its errors are thrown.
   */
  renew(used: string | undefined, ask: AskAccount): Promise<boolean>;
  /** Why the credential in the file is not used; undefined if it is, or if it could not be read. */
  readonly keptOut: string | undefined;
  /** Redacts all credentials read so far. */
  readonly redact: Redact;
}

/** Interval in which the forge is asked again for the account of the same refused credential. */
const askAgainMs = 5_000;

/** A credential in the file that is not used. */
type KeptOut = { readonly authorization: string; readonly reason: string; readonly askedMs: number };

/** Creates the credential of a client; without credentials its requests are anonymous. */
export function createCredential(options: {
  readonly credentials?: Credentials;
  readonly readCredentials?: () => Credentials | undefined;
  readonly guard?: CredentialGuard;
  readonly log?: Log;
}): Credential {
  const { credentials, readCredentials, guard, log } = options;
  let authorization = credentials && authorizationOf(credentials);
  // Forgejo echoes an unknown token in its response, and responses are recorded.
  const secrets = new Set(credentials ? secretsOf(credentials) : []);
  const redactor = (): Redact => createRedactor([...secrets], { minLength: 1 });
  let redact = redactor();
  let keptOut: KeptOut | undefined;
  let renewing: Promise<boolean> | undefined;

  const keepOut = (next: KeptOut | undefined, remedy?: string): void => {
    const isKnown =
      keptOut?.reason === next?.reason && isSameValue(keptOut?.authorization, next?.authorization);
    keptOut = next;
    if (isKnown) return;
    if (next !== undefined) log?.error({ remedy }, next.reason);
    guard?.onKeptOut(next?.reason);
  };

  /** Asks the forge whose credential this is, and returns whether it may be used. */
  const isLetIn = async (next: string, ask: AskAccount): Promise<boolean> => {
    if (guard === undefined) return true;
    const askedMs = performance.now();
    if (keptOut && isSameValue(keptOut.authorization, next) && askedMs - keptOut.askedMs < askAgainMs)
      return false;
    try {
      const self = await ask(next);
      const objection = self && guard.objectTo(self);
      keepOut(objection && { authorization: next, reason: objection.reason, askedMs }, objection?.remedy);
      return self !== undefined && objection === undefined;
    } catch (error) {
      if (!isDenied(error)) throw error;
      const reason = `the forge does not tell whose token the token file contains, so that it is not used: ${error.message}`;
      keepOut({ authorization: next, reason, askedMs }, 'create the token with the scope read:user');
      return false;
    }
  };

  const readAgain = async (ask: AskAccount): Promise<boolean> => {
    const read = readCredentials?.();
    if (read === undefined) return false;
    const next = authorizationOf(read);
    if (isSameValue(next, authorization)) {
      keepOut(undefined);
      return false;
    }
    const known = secrets.size;
    for (const secret of secretsOf(read)) secrets.add(secret);
    if (secrets.size > known) redact = redactor();
    if (!(await isLetIn(next, ask))) return false;
    authorization = next;
    log?.info(
      {},
      'the forge refused the credential; its file contains another one, which is used from now on',
    );
    return true;
  };

  return {
    headers: () => (authorization === undefined ? {} : { authorization }),
    async renew(used, ask) {
      // Another request may have renewed the credential in the meantime.
      if (!isSameValue(used, authorization)) return true;
      if (used === undefined) return false;
      renewing ??= readAgain(ask).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    get keptOut() {
      return keptOut?.reason;
    },
    redact: (text) => redact(text),
  };
}

function isSameValue(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isSameSecret(one, other);
}
