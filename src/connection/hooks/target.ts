import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const private_ = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const) {
  private_.addSubnet(net, bits, 'ipv4');
}
private_.addSubnet('fc00::', 7, 'ipv6');
private_.addSubnet('fe80::', 10, 'ipv6');

/** Where an address leads, in the words of the forge's list of allowed hosts; `unknown`: its name has no address here. */
type Reach = 'loopback' | 'private' | 'external' | 'unknown';

/** Tells where the host of an address leads from here. A name with several addresses is what the narrowest of them is. */
export async function reachOf(address: string): Promise<Reach> {
  const host = new URL(address).hostname.replace(/^\[(.*)\]$/, '$1');
  const found = await lookup(host, { all: true }).catch(() => []);
  const isIn = (list: BlockList): boolean =>
    found.some(({ address: ip }) => list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4'));
  if (found.length === 0) return 'unknown';
  if (isIn(loopback)) return 'loopback';
  return isIn(private_) ? 'private' : 'external';
}

/**
 * Returns what the forge's administrator sets so that hooks may go there. Every Gitea and Forgejo reads this section; from
 * Gitea 1.27 on it is called `[security]` too.
 */
export function allowAdvice(reach: 'loopback' | 'private'): string {
  return `by default, a forge delivers only to public addresses: in its app.ini set [webhook] ALLOWED_HOST_LIST = external,${reach} and restart it`;
}
