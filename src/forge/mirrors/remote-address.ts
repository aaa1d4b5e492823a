import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../platform/http/public-address.ts';
import type { ForgeContext } from '../core/context.ts';

/** Another server's repository, with the credentials for it. */
export type Remote = {
  /** Without credentials: for git, answers and messages. */
  readonly address: string;
  readonly username: string;
  readonly password: string;
};

/** Why an address is not used: no URL, another protocol, a path of this host, a host that must not be reached. */
type RemoteMistake = 'url' | 'protocol' | 'local' | 'host';

/** Thrown where an address must not be used. */
export class RemoteAddressError extends Error {
  readonly mistake: RemoteMistake;

  constructor(mistake: RemoteMistake) {
    super(`the address is refused: ${mistake}`);
    this.mistake = mistake;
  }
}

const maxLength = 2048;

/**
 * Returns the remote that an address names. Credentials in the address count where none are given apart from it. Only HTTP and
 * HTTPS: git's own protocol has neither credentials nor a host that could be pinned to what was checked.
 */
export function parseRemote(text: string, username = '', password = ''): Remote {
  const trimmed = text.trim();
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) || /^file:/i.test(trimmed))
    throw new RemoteAddressError('local');
  const url = URL.parse(trimmed);
  const isClean = [...trimmed].every((character) => character > ' ' && character !== '\x7f');
  if (url === null || !isClean || trimmed.length > maxLength) throw new RemoteAddressError('url');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RemoteAddressError('protocol');
  const isGiven = username !== '' || password !== '';
  const credentials = isGiven ? { username, password } : credentialsOf(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return { address: url.href, ...credentials };
}

function credentialsOf(url: URL): Omit<Remote, 'address'> {
  try {
    return { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  } catch {
    throw new RemoteAddressError('url');
  }
}

/**
 * Returns the IP addresses of a remote's host. All of them must be on the public internet, unless the instance allows local
 * networks: a server that only the forge reaches must not answer to an account that may add a mirror. To be called before every use, as
 * names change what they stand for.
 */
export async function resolveRemote({ features }: Pick<ForgeContext, 'features'>, { address }: Remote) {
  const host = new URL(address).hostname.replace(/^\[(.*)\]$/, '$1');
  const found = isIP(host) ? [host] : await lookUp(host);
  const isAllowed = found.length > 0 && (features.localMirrors || found.every(isPublicAddress));
  if (!isAllowed) throw new RemoteAddressError('host');
  return found;
}

async function lookUp(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
