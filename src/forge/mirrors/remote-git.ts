import { isIP, isIPv6 } from 'node:net';
import type { ForgeContext } from '../core/context.ts';
import type { GitRepository } from '../git/repository.ts';
import { type Remote, resolveRemote } from './remote-address.ts';

/** Longer than a large repository takes; a server that sends nothing is given up much earlier. */
const timeoutMs = 600_000;

type SyncPlace = { readonly context: ForgeContext; readonly git: GitRepository; readonly remote: Remote };

/**
 * Returns the environment of a git command that talks to a remote. Credentials are in the environment, which other accounts of the
 * host cannot read, and not in the arguments, which they can. The host is pinned to the addresses that were checked, and
 * redirects are not followed: either would lead git where the check did not look.
 */
async function environmentOf(context: ForgeContext, remote: Remote): Promise<Record<string, string>> {
  const addresses = await resolveRemote(context, remote);
  const { hostname, port, protocol } = new URL(remote.address);
  const pinned = addresses.map((one) => (isIPv6(one) ? `[${one}]` : one)).join(',');
  const isName = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
  const login = Buffer.from(`${remote.username}:${remote.password}`).toString('base64');
  const settings: [string, string][] = [
    ['protocol.http.allow', 'always'],
    ['protocol.https.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1000'],
    ['http.lowSpeedTime', '30'],
    ['fetch.fsckObjects', 'true'],
    ...(isName
      ? [
          ['http.curloptResolve', `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}:${pinned}`] as [
            string,
            string,
          ],
        ]
      : []),
    ...(remote.username !== '' || remote.password !== ''
      ? [['http.extraHeader', `Authorization: Basic ${login}`] as [string, string]]
      : []),
  ];
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

/** Makes branches and tags of a repository those of a remote. */
export async function fetchRemote({ context, git, remote }: SyncPlace): Promise<void> {
  const flags = ['--quiet', '--prune', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  await git.git.run(['fetch', ...flags, '--', remote.address, ...refspecs], {
    folder: git.folder,
    timeoutMs,
    environment: await environmentOf(context, remote),
  });
}

/** Returns the short name of the branch that a remote's HEAD names; undefined where it names none. */
export async function readRemoteHead({ context, git, remote }: SyncPlace): Promise<string | undefined> {
  const { stdout } = await git.git.run(['ls-remote', '--symref', '--', remote.address, 'HEAD'], {
    folder: git.folder,
    environment: await environmentOf(context, remote),
  });
  return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout.toString('utf8'))?.[1];
}

/** Makes branches and tags of a remote those of a repository. */
export async function pushToRemote({ context, git, remote }: SyncPlace): Promise<void> {
  await git.git.run(['push', '--quiet', '--prune', '--', remote.address, ...refspecs], {
    folder: git.folder,
    timeoutMs,
    environment: await environmentOf(context, remote),
  });
}
