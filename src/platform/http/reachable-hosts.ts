import { isIP, isIPv4 } from 'node:net';
import { createNetworkList, isInNetworks, isPublicAddress } from './public-address.ts';

/** The hosts that requests may go to: those of the public internet, and those that the operator lists. */
export interface ReachableHosts {
  /** Returns whether the host of a URL is listed, by name or address: it may have any address, and needs no TLS. */
  isListed(host: string): boolean;
  /** Returns whether an IP address may be connected to: it is public, or in a listed network. */
  permits(address: string): boolean;
}

/**
 * Creates the hosts from a list of names (`chat.internal`), addresses (`10.0.0.5`) and networks (`10.1.0.0/16`). Throws for an
 * entry that is none of these.
 */
export function createReachableHosts(listed: readonly string[]): ReachableHosts {
  const names = new Set<string>();
  const networks: string[] = [];
  for (const entry of listed) {
    if (isIP(entry) !== 0) networks.push(`${entry}/${isIPv4(entry) ? 32 : 128}`);
    else if (entry.includes('/')) networks.push(entry);
    else names.add(parseHostName(entry));
  }
  const list = createNetworkList(networks);
  return {
    isListed: (host) => names.has(withoutDot(host)) || isInNetworks(host, list),
    permits: (address) => isPublicAddress(address) || isInNetworks(address, list),
  };
}

/** Returns the host of a URL, an IPv6 address without its brackets. */
export function hostOfUrl({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns a host name as URLs have it: in lower case, with the letters beyond ASCII encoded. */
function parseHostName(entry: string): string {
  const isName = !/[\s:/?#@[\]\\*]/.test(entry) && URL.canParse(`http://${entry}/`);
  const name = isName ? withoutDot(hostOfUrl(new URL(`http://${entry}/`))) : '';
  // A name that a URL reads as an address, such as 2130706433, is written as that address.
  if (name === '' || isIP(name) !== 0)
    throw new Error(
      `"${entry}" is no host: write a name (chat.internal), an address (10.0.0.5) or a network (10.1.0.0/16)`,
    );
  return name;
}

/** A name may end in a dot, which means the same name. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}
