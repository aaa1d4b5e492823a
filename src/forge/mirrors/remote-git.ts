import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { ForgeContext } from '../core/context.ts';
import type { GitRepository } from '../git/repository.ts';
import { openRelay } from './relay.ts';
import { type Remote, resolveRemote } from './remote-address.ts';

/** Longer than a large repository takes; a server that sends nothing is given up much earlier. */
const timeoutMs = 600_000;

type SyncPlace = { readonly context: ForgeContext; readonly git: GitRepository; readonly remote: Remote };

/** A git command that talks to a remote, at the address it is given. */
type RemoteCommand = (address: string, environment: Record<string, string>) => Promise<{ stdout: Buffer }>;

/**
 * Runs a git command that talks to a remote, with the limits of a push. Credentials are in the environment, which other
 * accounts of the host cannot read, and not in the arguments, which they can. The host is what was checked, and redirects are not
 * followed: either would lead git where the check did not look.
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

/** Begins the name of a folder in a repository, for what a remote sends. */
const asidePrefix = 'remote-';

/**
 * Makes branches and tags of a repository those of a remote. What the remote sends comes into a repository of its own first, which
 * finds here what need not be sent: of a fetch that fails, nothing is left. To be called where the refs stand still.
 */
export async function fetchRemote(place: SyncPlace): Promise<void> {
  const { git, folder } = place.git;
  // Of a process that died.
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
    // Every object is here: only the refs follow.
    await git.run(['fetch', ...quiet, '--', aside, ...refspecs], { folder, timeoutMs });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Moves packs between folders of one file system; the index of each comes last, by which git finds it. */
async function movePacks(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => /^pack-\w+\.(pack|rev|idx)$/.test(name));
  const isIndex = (name: string): number => Number(name.endsWith('.idx'));
  for (const name of names.toSorted((one, other) => isIndex(one) - isIndex(other)))
    await rename(join(from, name), join(to, name));
}

/** Returns the short name of the branch that a remote's HEAD names; undefined where it names none. */
export async function readRemoteHead(place: SyncPlace): Promise<string | undefined> {
  const { git, folder } = place.git;
  const { stdout } = await withRemote(place, (address, environment) =>
    git.run(['ls-remote', '--symref', '--', address, 'HEAD'], { folder, environment }),
  );
  return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout.toString('utf8'))?.[1];
}

/** Makes branches and tags of a remote those of a repository. */
export async function pushToRemote(place: SyncPlace): Promise<void> {
  const { git, folder } = place.git;
  await withRemote(place, (address, { GIT_ALLOC_LIMIT: _, ...environment }) =>
    git.run(['push', '--quiet', '--prune', '--', address, ...refspecs], { folder, timeoutMs, environment }),
  );
}
