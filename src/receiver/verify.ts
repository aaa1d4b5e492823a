import { isUtf8 } from 'node:buffer';
import { sign } from '@octokit/webhooks-methods';
import { digestOfSecret, isSameDigest, isSameSecret } from '../same-secret.ts';
import { createScope, isWholeScope } from './scope.ts';
import type { SecretEntry } from './secrets.ts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An entry that vouched for a request. */
export type Voucher = {
  readonly name: string;
  /** Whether the sender proved to know a secret and may speak of the whole forge: its body need not be looked at yet. */
  readonly isTrustedUnread: boolean;
  readonly covers: (repository: string | undefined) => boolean;
};

/** `vouchers`: the entries that passed with everything they configure, in their order. `failed` is for the log alone. */
export type Verification = {
  readonly vouchers: readonly Voucher[];
  readonly failed: readonly { readonly entry: string; readonly guard: 'authorization' | 'signature' }[];
};

export type Verify = (headers: RequestHeaders, body: Buffer) => Promise<Verification>;

/**
 * Creates the check of both guards over all entries. Values are compared as digests in constant time, and every value
 * of every entry is tried whatever the others said: how long it took tells nobody which guard failed.
 */
export function createVerify(entries: readonly SecretEntry[]): Verify {
  const guards = entries.map((entry) => ({
    name: entry.name,
    digests: entry.authorization.map(digestOfSecret),
    hmac: entry.hmac,
    voucher: {
      name: entry.name,
      isTrustedUnread: entry.hmac.length > 0 && isWholeScope(entry.scope),
      covers: createScope(entry.scope),
    },
  }));

  return async (headers, body) => {
    const given = headers.authorization;
    const digest = digestOfSecret(typeof given === 'string' ? given : '');
    const signature = signatureOf(headers);
    // HMAC is over bytes, the library wants text: only where the two are the same may it answer.
    const text = signature !== undefined && isUtf8(body) ? body.toString('utf8') : '';
    const vouchers: Voucher[] = [];
    const failed: { entry: string; guard: 'authorization' | 'signature' }[] = [];
    for (const guard of guards) {
      const isKnown = isAuthorized(digest, guard.digests);
      const isSigned = await hasSignature(text, signature, guard.hmac);
      if (isKnown && isSigned) vouchers.push(guard.voucher);
      else failed.push({ entry: guard.name, guard: isKnown ? 'signature' : 'authorization' });
    }
    return { vouchers, failed };
  };
}

function isAuthorized(digest: Buffer, digests: readonly Buffer[]): boolean {
  let found = digests.length === 0;
  for (const live of digests) {
    if (isSameDigest(digest, live)) found = true;
  }
  return found;
}

async function hasSignature(
  text: string,
  signature: string | undefined,
  secrets: readonly string[],
): Promise<boolean> {
  let found = secrets.length === 0;
  // The library throws on empty arguments: an empty body carries no event, an empty signature is a missing one.
  if (signature === undefined || text === '') return found;
  for (const secret of secrets) {
    if (isSameSecret(signature, await sign(secret, text))) found = true;
  }
  return found;
}

const bareHeaders = ['x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];

/** Returns the signature in the library's spelling. The forge sends its own header as bare hex, and empty without a secret. */
function signatureOf(headers: RequestHeaders): string | undefined {
  for (const name of bareHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return `sha256=${value}`;
  }
  const prefixed = headers['x-hub-signature-256'];
  return typeof prefixed === 'string' && prefixed !== '' && prefixed !== 'sha256=' ? prefixed : undefined;
}
