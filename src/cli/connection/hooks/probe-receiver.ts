import { sign } from '@octokit/webhooks-methods';
import ky from 'ky';
import { messageOf } from '../../../platform/errors.ts';
import { probeAgent } from '../../../server/receiver/guards.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';

/**
 * Who answers at an address. `ours`: a Reeve that knows these secrets · `other-secrets`: a Reeve that does not ·
 * `throttled`: one that has refused too much from here to say · `silent`: no answer · `stranger`: something else.
 */
type ProbeResult =
  | { readonly who: 'ours' }
  | { readonly who: 'other-secrets' }
  | { readonly who: 'throttled' }
  | { readonly who: 'silent' | 'stranger'; readonly why: string };

/**
 * Asks a receiver whether it knows the values of an entry: by a request that carries and is signed with them, and names
 * no event. The receiver looks at the secrets first, then refuses it as malformed: nothing is stored.
 */
export async function probeReceiver(address: string, entry: SecretEntry): Promise<ProbeResult> {
  const body = JSON.stringify({ from: 'reeve' });
  const [authorization] = entry.authorization;
  const [hmac] = entry.hmac;
  try {
    const response = await ky.post(address, {
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': probeAgent,
        ...(authorization === undefined ? {} : { authorization }),
        ...(hmac === undefined ? {} : { 'x-hub-signature-256': await sign(hmac, body) }),
      },
      // The values are for this address alone.
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      timeout: false,
      signal: AbortSignal.timeout(5_000),
    });
    const text = await response.text();
    if (response.status === 400 && text.includes('name a delivery')) return { who: 'ours' };
    if (response.status === 401 && text.includes('not authorized')) return { who: 'other-secrets' };
    if (response.status === 429) return { who: 'throttled' };
    return { who: 'stranger', why: `it answers ${response.status}` };
  } catch (error) {
    return { who: 'silent', why: connectionReason(error) };
  }
}

function connectionReason(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return error.code;
  }
  return messageOf(thrown);
}

/** Returns where a receiver on this host and port answers from the same machine. */
export function localAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/webhook`;
}
