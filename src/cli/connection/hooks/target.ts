import { lookup } from 'node:dns/promises';
import { createNetworkList, hostOfUrl, isInNetworks } from '../../../platform/http/reachable-hosts.ts';

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

/** Where an address leads, in the words of the forge's list of allowed hosts; `unknown`: its name has no address here. */
type Reach = 'loopback' | 'private' | 'external' | 'unknown';

/** Returns the kind of network that the host of an address is in, as seen from here. A name with several addresses is what the narrowest of them is. */
export async function reachOf(address: string): Promise<Reach> {
  const found = await lookup(hostOfUrl(new URL(address)), { all: true }).catch(() => []);
  const isIn = (list: typeof loopback): boolean => found.some(({ address: ip }) => isInNetworks(ip, list));
  if (found.length === 0) return 'unknown';
  if (isIn(loopback)) return 'loopback';
  return isIn(privateNetworks) ? 'private' : 'external';
}

/** Returns what the forge's administrator sets so that hooks may go there. Gitea 1.27 moved the setting to another section. */
export function allowAdvice(reach: 'loopback' | 'private'): string {
  return `by default, a forge delivers only to public addresses: in its app.ini set ALLOWED_HOST_LIST = external,${reach}, below [security] on Gitea 1.27 and later, below [webhook] on earlier versions and on Forgejo, and restart it`;
}
