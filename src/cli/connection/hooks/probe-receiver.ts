import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { sign } from '@octokit/webhooks-methods';
import ky from 'ky';
import { messageOf } from '../../../platform/errors.ts';
import { createNetworkList, hostOfUrl, isInNetworks } from '../../../platform/http/reachable-hosts.ts';
import { probeAgent } from '../../../server/receiver/guards.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';

/**
 * Result of a probe of an address. `ours`: a Reeve with these secrets · `other-secrets`: a Reeve with different ones ·
 * `throttled`: a Reeve that has refused too many requests from here · `silent`: no response · `stranger`: something
 * else.
 */
type ProbeResult =
  | { readonly who: 'ours' }
  | { readonly who: 'other-secrets' }
  | { readonly who: 'throttled' }
  | { readonly who: 'silent' | 'stranger'; readonly why: string };

/**
 * Tests whether a receiver accepts the values of an entry. The request contains the values and is signed with them, but
 * does not name an event: the receiver first verifies the secrets, and then refuses the request as malformed, so
 * nothing is stored.
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
      // The values must not be sent to another address.
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

/** Returns the local URL of a receiver on this host and port. */
export function localAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/webhook`;
}

const loopback = createNetworkList(['127.0.0.0/8', '::1/128']);
const privateNetworks = createNetworkList([
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
  'fe80::/10',
]);

/**
 * The network of an address, in the terms of the forge's list of allowed hosts; `unknown`: the name cannot be resolved
 * here.
 */
type Reach = 'loopback' | 'private' | 'external' | 'unknown';

/**
 * Returns the network of an address, as seen from here. For a name with several addresses, the narrowest network
 * counts.
 */
export async function reachOf(address: string): Promise<Reach> {
  const found = await lookup(hostOfUrl(new URL(address)), { all: true }).catch(() => []);
  const isIn = (list: typeof loopback): boolean => found.some(({ address: ip }) => isInNetworks(ip, list));
  if (found.length === 0) return 'unknown';
  if (isIn(loopback)) return 'loopback';
  return isIn(privateNetworks) ? 'private' : 'external';
}

/**
 * Returns whether an address of this machine refuses connections, so that the forge cannot reach it either. An address
 * elsewhere may be reachable for the forge alone.
 */
export async function isRefusedHere(address: string, entry: SecretEntry): Promise<boolean> {
  const found = await lookup(hostOfUrl(new URL(address)), { all: true }).catch(() => []);
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address));
  if (!found.some((one) => isInNetworks(one.address, loopback) || own.includes(one.address))) return false;
  const probe = await probeReceiver(address, entry);
  return probe.who === 'silent' && probe.why === 'ECONNREFUSED';
}

/**
 * Returns the setting with which the administrator of the forge allows hooks to this network. Gitea 1.27 moved it to
 * another section.
 */
export function allowAdvice(reach: 'loopback' | 'private'): string {
  return `by default, a forge delivers only to public addresses: in its app.ini set ALLOWED_HOST_LIST = external,${reach}, below [security] on Gitea 1.27 and later, below [webhook] on earlier versions and on Forgejo, and restart it; with the embedded forge, start reeve forge with --hook-hosts ${reach === 'loopback' ? 'loopback' : 'ADDRESS'}`;
}
