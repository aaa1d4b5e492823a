import { isUtf8 } from 'node:buffer';
import { sign } from '@octokit/webhooks-methods';
import { digestOfSecret, isSameDigest } from '../../platform/http/constant-time-equal.ts';
import { createEntryScope, isWholeScope, type SecretEntry } from './secrets.ts';

/** An entry that verified a request. */
export type VerifiedEntry = {
  readonly name: string;
  /** Whether the sender has signed the body and its scope is the whole forge: the body need not be parsed before the answer. */
  readonly isTrustedUnread: boolean;
  readonly covers: (repository: string | undefined) => boolean;
};

/** `verifiedEntries`: the entries that passed all their checks, in order. `failed` is only for the log. */
export type Verification = {
  readonly verifiedEntries: readonly VerifiedEntry[];
  readonly failed: readonly { readonly entry: string; readonly guard: 'authorization' | 'signature' }[];
};

/** `given` is the result of `digestOfAuthorization` for the headers, if it is already known. */
export type Verify = (headers: RequestHeaders, body: Buffer, given?: Buffer) => Promise<Verification>;

/**
 * Creates the check of header and signature for all entries. Values are compared as digests in constant time, and every value
 * of every entry is compared in any case, so that the duration does not reveal which check failed.
 */
export function createVerify(entries: readonly SecretEntry[]): Verify {
  const guards = entries.map((entry) => ({
    name: entry.name,
    digests: entry.authorization.map(digestOfSecret),
    hmac: entry.hmac,
    verifiedEntry: {
      name: entry.name,
      isTrustedUnread: entry.hmac.length > 0 && isWholeScope(entry.scope),
      covers: createEntryScope(entry.scope),
    },
  }));

  return async (headers, body, given = digestOfAuthorization(headers)) => {
    const signature = signatureHeader(headers);
    // HMAC covers bytes, the library takes text: it is used only if the bytes are valid UTF-8.
    const text = signature !== undefined && isUtf8(body) ? body.toString('utf8') : '';
    const verifiedEntries: VerifiedEntry[] = [];
    const failed: { entry: string; guard: 'authorization' | 'signature' }[] = [];
    for (const guard of guards) {
      const isKnown = guard.digests.length === 0 || isAuthorized(given, guard.digests);
      const isSigned = await hasSignature(text, signature, guard.hmac);
      if (isKnown && isSigned) verifiedEntries.push(guard.verifiedEntry);
      else failed.push({ entry: guard.name, guard: isKnown ? 'signature' : 'authorization' });
    }
    return { verifiedEntries, failed };
  };
}

async function hasSignature(
  text: string,
  signature: string | undefined,
  secrets: readonly string[],
): Promise<boolean> {
  let found = secrets.length === 0;
  // The library throws for an empty text: an empty body contains no event.
  if (signature === undefined || text === '') return found;
  const given = Buffer.from(signature);
  for (const secret of secrets) {
    const expected = Buffer.from(await sign(secret, text));
    // A signature is itself a digest of known length: hashing both again would hide nothing.
    if (given.length === expected.length && isSameDigest(given, expected)) found = true;
  }
  return found;
}

const bareHeaders = ['x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];

/** Returns the signature in the library's spelling. The forge sends its own header as bare hex, and empty if there is no secret. */
function signatureHeader(headers: RequestHeaders): string | undefined {
  for (const name of bareHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return `sha256=${value}`;
  }
  const prefixed = headers['x-hub-signature-256'];
  return typeof prefixed === 'string' ? prefixed : undefined;
}

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

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
