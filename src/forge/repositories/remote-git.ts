import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { type AddressInfo, isIP, isIPv6, type LookupFunction } from 'node:net';
import { join } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { getCACertificates } from 'node:tls';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { isPublicAddress } from '../../platform/http/reachable-hosts.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { GitRepository } from '../platform/git/repository.ts';

/** A repository on another server, with its credentials. */
export type Remote = {
  /** URL without credentials, for git, responses and messages. */
  readonly address: string;
  readonly username: string;
  readonly password: string;
};

/** Why a URL is rejected: invalid, another protocol, a path on this host, or a host that must not be reached. */
type RemoteMistake = 'url' | 'protocol' | 'local' | 'host';

/** Thrown if a URL must not be used. */
export class RemoteAddressError extends Error {
  readonly mistake: RemoteMistake;

  constructor(mistake: RemoteMistake) {
    super(`the URL is refused: ${mistake}`);
    this.mistake = mistake;
  }
}

const maxLength = 2048;

/**
 * Parses the URL of a remote. Credentials in the URL are used if none are given separately. Only HTTP and HTTPS are
 * accepted: git's own protocol has neither credentials nor a host that could be pinned to the checked addresses.
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
 * Returns the IP addresses of a remote's host. All of them must be on the public internet, unless the instance allows
 * local networks: an account that may add a mirror must not get responses from a server that only the forge can reach.
 * Call it before every use, because name resolution can change.
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

/**
 * Time limit of a transfer, longer than a large repository takes. A server that sends nothing is aborted much earlier.
 */
const timeoutMs = 600_000;

type SyncPlace = { readonly context: ForgeContext; readonly git: GitRepository; readonly remote: Remote };

/** A git command that connects to a remote at the given address. */
type RemoteCommand = (address: string, environment: Record<string, string>) => Promise<{ stdout: Buffer }>;

/**
 * Runs a git command that connects to a remote, with the limits of a push. Credentials are passed in the environment
 * instead of the arguments: other accounts of the host can read the arguments but not the environment. The host is
 * pinned to the checked addresses and redirects are not followed; otherwise git could be led to an unchecked address.
 */
async function withRemote(
  { context, remote }: SyncPlace,
  run: RemoteCommand,
): Promise<{ readonly stdout: Buffer }> {
  const addresses = await resolveRemote(context, remote);
  const { pushBytes, objectBytes } = context.limits;
  const relay = await openRelay({ remote, addresses, maxBytes: pushBytes });
  const login = Buffer.from(`${remote.username}:${remote.password}`).toString('base64');
  const hasLogin = remote.username !== '' || remote.password !== '';
  const settings: [string, string][] = [
    ['protocol.http.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1000'],
    ['http.lowSpeedTime', '30'],
    ['fetch.fsckObjects', 'true'],
    ...(hasLogin ? [['http.extraHeader', `Authorization: Basic ${login}`] as [string, string]] : []),
  ];
  const environment = Object.fromEntries([
    ['GIT_ALLOC_LIMIT', String(objectBytes)],
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
  try {
    return await run(relay.address, environment);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    const reason = relay.refusal() ?? messageOf(error).replaceAll(relay.address, remote.address);
    throw new ReeveError('git-failed', reason, { cause: error });
  } finally {
    await relay.close();
  }
}

const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
const quiet = ['--quiet', '--prune', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];

/** Prefix of the folders in a repository that hold data from a remote. */
const asidePrefix = 'remote-';

/**
 * Updates branches and tags of a repository to those of a remote. The data is first fetched into a separate repository,
 * which uses the objects of the updated repository as alternates, so that a failed fetch leaves nothing behind. Call it
 * with the refs locked.
 */
export async function fetchRemote(place: SyncPlace): Promise<void> {
  const { git, folder } = place.git;
  // Folders left behind by a process that died.
  for (const name of await readdir(folder))
    if (name.startsWith(asidePrefix)) await rm(join(folder, name), { recursive: true, force: true });
  const aside = join(folder, `${asidePrefix}${randomUUID()}`);
  try {
    const format = await git.run(['rev-parse', '--show-object-format'], { folder });
    const objectFormat = `--object-format=${format.stdout.toString('latin1').trim()}`;
    await git.run(['init', '--bare', '--quiet', '--template=', objectFormat, aside]);
    await mkdir(join(aside, 'objects', 'info'), { recursive: true });
    await writeFile(join(aside, 'objects', 'info', 'alternates'), `${join(folder, 'objects')}\n`);
    await withRemote(place, (address, environment) =>
      git.run(['fetch', ...quiet, '--', address, ...refspecs], { folder: aside, timeoutMs, environment }),
    );
    await movePacks(join(aside, 'objects', 'pack'), join(folder, 'objects', 'pack'));
    // All objects are present now, so only the refs are updated.
    await git.run(['fetch', ...quiet, '--', aside, ...refspecs], { folder, timeoutMs });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/**
 * Moves packs between folders of one file system. The index of each pack comes last, because git finds the pack by its
 * index.
 */
async function movePacks(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => /^pack-\w+\.(pack|rev|idx)$/.test(name));
  const isIndex = (name: string): number => Number(name.endsWith('.idx'));
  for (const name of names.toSorted((one, other) => isIndex(one) - isIndex(other)))
    await rename(join(from, name), join(to, name));
}

/** Returns the short name of the branch that a remote's HEAD points to; undefined if there is none. */
export async function readRemoteHead(place: SyncPlace): Promise<string | undefined> {
  const { git, folder } = place.git;
  const { stdout } = await withRemote(place, (address, environment) =>
    git.run(['ls-remote', '--symref', '--', address, 'HEAD'], { folder, environment }),
  );
  return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout.toString('utf8'))?.[1];
}

/** Updates branches and tags of a remote to those of a repository. */
export async function pushToRemote(place: SyncPlace): Promise<void> {
  const { git, folder } = place.git;
  await withRemote(place, (address, { GIT_ALLOC_LIMIT: _, ...environment }) =>
    git.run(['push', '--quiet', '--prune', '--', address, ...refspecs], { folder, timeoutMs, environment }),
  );
}

/** Maximum time that a server may send nothing before its connection is aborted. */
const silenceMs = 60_000;

/** Requests that git may make to another server. Dumb HTTP, which would fetch unchecked objects, uses other paths. */
const asked = /^\/(info\/refs\?service=git-(upload|receive)-pack|git-(upload|receive)-pack)$/;

/**
 * Headers that are not relayed: hop-by-hop headers and the accepted content encodings. Without compression, the counted
 * bytes are those that git receives.
 */
const dropped = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'accept-encoding',
]);

type RelayOptions = {
  readonly remote: Remote;
  /** Checked addresses of the remote's host. The relay connects to no others. */
  readonly addresses: readonly string[];
  /** Maximum bytes from the remote. */
  readonly maxBytes: number;
};

/** A local endpoint through which git reaches a remote. */
interface Relay {
  readonly address: string;
  /** Why the connection to the remote was aborted; undefined if it was not. */
  readonly refusal: () => string | undefined;
  close(): Promise<void>;
}

/**
 * Relays git's requests to the server of a remote, and the server's responses. Git itself limits neither the received
 * size nor the addresses to which a name may resolve. The relay counts all bytes of a fetch and connects only to
 * checked addresses. It allows only git's own protocol, in which git checks each object, and no compression. Redirects
 * and refused credentials are passed on to git.
 */
async function openRelay({ remote, addresses, maxBytes }: RelayOptions): Promise<Relay> {
  let bytes = 0;
  let refusal: string | undefined;
  const give = (reason: string, response: ServerResponse): void => {
    refusal ??= reason;
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { 'content-type': 'text/plain' }).end(`${reason}\n`);
  };

  function pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (!asked.test(path)) {
      give('the remote does not speak the protocol of git', response);
      return;
    }
    const target = new URL(remote.address);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !dropped.has(name)),
    );
    const { program, more } = target.protocol === 'https:' ? overTls() : { program: http, more: {} };
    const sent = program.request(
      {
        ...more,
        hostname: target.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: target.port || undefined,
        path: `${target.pathname.replace(/\/+$/, '')}${path}`,
        method: request.method,
        headers: { ...headers, host: target.host, 'accept-encoding': 'identity' },
        lookup: lookupOf(addresses),
        agent: false,
        timeout: silenceMs,
      },
      (answer) => {
        const reason = unusable(path, answer);
        if (reason !== undefined) {
          answer.destroy();
          return give(reason, response);
        }
        const kept = Object.entries(answer.headers).filter(([name]) => !dropped.has(name));
        response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
        const count = new Transform({
          transform(piece: Buffer, _encoding, done) {
            bytes += piece.length;
            if (bytes <= maxBytes) return done(null, piece);
            refusal ??= `the remote sends more than ${maxBytes} bytes`;
            done(new Error(refusal));
          },
        });
        // If a response breaks off, the response to git also breaks off.
        pipeline(answer, count, response, () => {});
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${silenceMs / 1000} s`)));
    sent.on('error', (error: NodeJS.ErrnoException) =>
      give(`the remote cannot be reached: ${error.code ?? error.message}`, response),
    );
    response.on('close', () => sent.destroy());
    pipeline(request, sent, () => {});
  }

  const server = http.createServer({ requestTimeout: 0 }, pass);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusal: () => refusal,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns the TLS client with the system's certificate authorities, which git also trusts. */
function overTls() {
  const ca = [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return { program: https, more: { ca } };
}

/** Returns why a response must not be relayed; undefined if it may be. */
function unusable(path: string, { statusCode, headers }: IncomingMessage): string | undefined {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return 'the remote compresses its responses';
  const service = /service=(.*)$/.exec(path)?.[1];
  const isGit = headers['content-type'] === `application/x-${service}-advertisement`;
  const isDumb = statusCode === 200 && service !== undefined && !isGit;
  return isDumb ? 'the remote does not speak the protocol of git' : undefined;
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all }, callback) => {
    const [first] = found;
    if (all) callback(null, found);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('the name has no address'), '');
  };
}
