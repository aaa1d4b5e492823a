import { BlockList, isIP, isIPv4 } from 'node:net';

/** Hosts that requests may reach: those of the public internet, and those that the operator lists. */
export interface ReachableHosts extends PermittedAddresses {
  /**
   * Returns whether the host of a URL is listed by name or address. A listed host may have any address and does not
   * need TLS.
   */
  isListed(host: string): boolean;
}

/** Addresses to which connections are allowed. */
export interface PermittedAddresses {
  /** Returns whether connections to an IP address are allowed: it is public, or in a listed network. */
  permits(address: string): boolean;
}

/**
 * Creates the hosts from a list of names (`chat.internal`), addresses (`10.0.0.5`) and networks (`10.1.0.0/16`). Throws
 * for an invalid entry.
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

/** Returns the host of a URL; an IPv6 address has no brackets. */
export function hostOfUrl({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns a host name as it appears in URLs: in lower case, with Punycode for non-ASCII characters. */
function parseHostName(entry: string): string {
  const isName = !/[\s:/?#@[\]\\*]/.test(entry) && URL.canParse(`http://${entry}/`);
  const name = isName ? withoutDot(hostOfUrl(new URL(`http://${entry}/`))) : '';
  // A name that URL parsing turns into an address, such as 2130706433, must be written as that address.
  if (name === '' || isIP(name) !== 0)
    throw new Error(
      `"${entry}" is not a host: write a name (chat.internal), an address (10.0.0.5) or a network (10.1.0.0/16)`,
    );
  return name;
}

/** Returns a host name without its trailing dot, which does not change the name. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}

/** IPv4 networks that are not part of the public internet. Source: IANA IPv4 Special-Purpose Address Registry. */
const closedIpv4 = [
  '0.0.0.0/8', // this network: Linux connects to itself
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; metadata of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // metadata of Azure, an address that is public by its number alone
  '169.254.0.0/16', // link-local; metadata of AWS, Google Cloud and others
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
] as const;

/**
 * Networks inside 2000::/3 that are not part of the public internet. Addresses outside 2000::/3 are not part of it
 * either: loopback, IPv4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96), unique local (fc00::/7), link-local (fe80::/10),
 * multicast. Source: IANA IPv6 Special-Purpose Address Registry.
 */
const closedIpv6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: contains an IPv4 address
  '3fff::/20', // documentation
] as const;

/** Returns a list of networks, each written `ADDRESS/PREFIX`. Throws for an invalid network. */
export function createNetworkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix = '', ...more] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const most = family === 'ipv4' ? 32 : 128;
    const isNetwork = isIP(address) !== 0 && !address.includes('%') && more.length === 0;
    if (!isNetwork || !/^\d{1,3}$/.test(prefix) || Number(prefix) > most)
      throw new Error(`"${network}" is not a network: write ADDRESS/PREFIX, such as 10.1.0.0/16`);
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

const closed = { ipv4: createNetworkList(closedIpv4), ipv6: createNetworkList(closedIpv6) };
const globalIpv6 = createNetworkList(['2000::/3']);

/** Returns whether a list contains an IP address (as recognized by `isIP`), with or without a zone. */
export function isInNetworks(address: string, list: BlockList): boolean {
  const [plain = ''] = address.split('%', 1);
  if (isIP(plain) === 0) return false;
  return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
}

/** Returns whether an IP address belongs to the public internet; false for anything that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !isInNetworks(address, closed.ipv4);
  return isInNetworks(address, globalIpv6) && !isInNetworks(address, closed.ipv6);
}
