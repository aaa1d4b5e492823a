import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFile, createPrivateFolder } from '../../../platform/private-files.ts';
import { commitFiles, type FileCommit } from './commit-files.ts';
import { createGitCache } from './git-cache.ts';
import { createHistoryIndex } from './history.ts';
import type { Launcher } from './launcher.ts';
import { defaultLimits, type GitLimits } from './limits.ts';
import { createObjectReader } from './objects.ts';
import { createGit, type Git } from './process.ts';
import { createReaderPool } from './reader-pool.ts';
import { assertPermitted, type CopyPermit, type GitRepository } from './repository.ts';
import { createKeyedQueue, createSlots } from './slots.ts';
import { createUnadopted, type UnadoptedName, type UnadoptedRepositories } from './unadopted.ts';

/**
 * The repositories on disk, in folders named by repository id, so that renaming a repository moves no folder. The wiki
 * of a repository has its negated id.
 */
export interface GitStore {
  /** Creates an empty bare repository whose HEAD points to the default branch. */
  create(
    repositoryId: number,
    options: { defaultBranch: string; objectFormat?: 'sha1' | 'sha256' },
  ): Promise<void>;
  /** Creates a bare repository with the branches and tags of another repository. */
  copy(fromId: number, repositoryId: number, permit: CopyPermit): Promise<void>;
  /** Repositories in the folder without a database row. */
  readonly unadopted: Omit<UnadoptedRepositories, 'copyTo'>;
  /** Creates a repository with all refs of an unadopted one, which is kept. */
  adopt(name: UnadoptedName, repositoryId: number): Promise<void>;
  open(repositoryId: number): GitRepository;
  /**
   * Runs work on a repository that also has the objects of another one while the work runs. Nothing is written to disk
   * or cached.
   */
  withObjectsOf<T>(
    repositoryId: number,
    from: { readonly id: number; readonly permit: CopyPermit },
    work: (both: GitRepository) => Promise<T>,
  ): Promise<T>;
  /** Returns whether a repository with this id exists. */
  exists(repositoryId: number): boolean;
  /** Sets HEAD to another branch. */
  setDefaultBranch(repositoryId: number, branch: string): Promise<void>;
  /**
   * Commits files to a branch and returns the commit's id. Without a parent, creates a root commit. Sends no events.
   */
  commitFiles(repositoryId: number, commit: FileCommit): Promise<string>;
  /** Returns the number of objects, and their size on disk in bytes. */
  measure(repositoryId: number): Promise<{ readonly objects: number; readonly bytes: number }>;
  /**
   * Indexes the history for fast walks if many objects were added since the last time; `objects` is the current count.
   */
  indexHistory(repositoryId: number, objects: number): Promise<void>;
  /** Removes the repository and its wiki from disk; missing ones are ignored. */
  remove(repositoryId: number): Promise<void>;
  /**
   * Runs work exclusively: `refs` for work that moves refs of a repository, so that the states before and after are
   * consistent; `pulls` for work that updates its pull requests. Work on refs must not wait for work on refs of another
   * repository.
   */
  exclusively<T>(repositoryId: number, room: 'refs' | 'pulls', work: () => Promise<T>): Promise<T>;
  /** Ends the long-running processes. */
  close(): void;
}

/**
 * Maximum concurrent views of two repositories: each view has its own process, which holds git's data of the other
 * repository in memory.
 */
const maxViews = 8;

/** Returns a path quoted for a path list that git reads: an unquoted path would end at a colon. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Creates the store in a folder, which is created if missing. `limits` apply to pushes. `launcher` is a shared
 * launcher; by default, the store has its own, which ends with the store.
 */
export function createGitStore(
  folder: string,
  limits: GitLimits = defaultLimits,
  launcher?: Launcher,
): GitStore {
  createPrivateFolder(folder, { holds: 'git.config' });
  const configFile = join(folder, 'git.config');
  createPrivateFile(configFile);
  writeFileSync(configFile, configurationOf(limits));
  const git = createGit(configFile, launcher);
  const cache = createGitCache();
  // A reader process can still read objects that were removed since it started. The cache is cleared when the process
  // ends, so that the cache is never more outdated than the process.
  const readers = createReaderPool(git, { onEnd: (id) => cache.of(id).forgetObjects() });
  const index = createHistoryIndex();
  const [inRefs, inPulls] = [createKeyedQueue(), createKeyedQueue()];
  const inView = createSlots(maxViews);
  const folderOf = (id: number): string => {
    const known = Number.isSafeInteger(id) ? id : 0;
    return join(folder, known < 0 ? `${-known}.wiki.git` : `${known}.git`);
  };
  const open = (id: number): GitRepository => ({
    id,
    folder: folderOf(id),
    git,
    objects: cache.readThrough(id, readers.of(id, folderOf(id))),
    cache: cache.of(id),
  });
  const unadopted = createUnadopted(folder, git);
  return {
    open,
    unadopted,
    adopt: (name, id) => unadopted.copyTo(name, folderOf(id)),
    exists: (id) => existsSync(join(folderOf(id), 'HEAD')),
    async create(id, { defaultBranch, objectFormat = 'sha1' }) {
      // An earlier folder of the repository may have been lost, which invalidates all cached data.
      for (const known of [cache, index]) known.forget(id);
      const head = `--initial-branch=${defaultBranch}`;
      await git.run([
        'init',
        '--bare',
        '--quiet',
        '--template=',
        head,
        `--object-format=${objectFormat}`,
        folderOf(id),
      ]);
    },
    withObjectsOf(id, from, work) {
      assertPermitted(from.permit, from.id);
      return inView(async () => {
        const objects = { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(folderOf(from.id), 'objects')) };
        const add = <Options extends { environment?: Readonly<Record<string, string>> }>(
          options: Options,
        ) => ({
          ...options,
          environment: { ...options.environment, ...objects },
        });
        const both: Git = {
          ...git,
          run: (args, options = {}) => git.run(args, add(options)),
          start: (args, options) => git.start(args, add(options)),
        };
        const reader = createObjectReader(both, folderOf(id));
        try {
          return await work({
            id,
            folder: folderOf(id),
            git: both,
            objects: reader,
            cache: createGitCache().of(id),
          });
        } finally {
          reader.close();
        }
      });
    },
    async copy(fromId, id, permit) {
      assertPermitted(permit, fromId);
      await git.run([
        'clone',
        '--bare',
        '--quiet',
        '--no-hardlinks',
        '--template=',
        '--',
        folderOf(fromId),
        folderOf(id),
      ]);
    },
    async setDefaultBranch(id, branch) {
      await git.run(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { folder: folderOf(id) });
    },
    commitFiles: (id, commit) => commitFiles(open(id), commit),
    measure: (id) => countObjects(open(id)),
    indexHistory: (id, objects) => index.update(open(id), objects),
    async remove(id) {
      for (const one of [id, -Math.abs(id)]) {
        readers.drop(one);
        for (const known of [cache, index]) known.forget(one);
        await rm(folderOf(one), { recursive: true, force: true });
      }
    },
    exclusively: (id, room, work) => (room === 'refs' ? inRefs(id, work) : inPulls(id, work)),
    close() {
      readers.close();
      git.close();
    },
  };
}

async function countObjects({ git, folder }: GitRepository) {
  const { stdout } = await git.run(['count-objects', '-v'], { folder });
  const text = stdout.toString('latin1');
  const sum = (line: RegExp): number =>
    [...text.matchAll(line)].reduce((total, [, number]) => total + Number(number), 0);
  return { objects: sum(/^(?:count|in-pack): (\d+)$/gm), bytes: sum(/^size(?:-pack)?: (\d+)$/gm) * 1024 };
}

/** Returns the git configuration for every repository of the forge. */
function configurationOf({ pushBytes }: GitLimits): string {
  return `[core]
	hooksPath = /dev/null
	# Objects of every size are held in memory as a whole, where GIT_ALLOC_LIMIT bounds them.
	bigFileThreshold = 1048576g
	# No tree is made, whatever makes it, with a path that the file system of a clone would take for .git.
	protectHFS = true
	protectNTFS = true
[safe]
	directory = *
[gc]
	autoDetach = false
[receive]
	fsckObjects = true
	advertisePushOptions = true
	hideRefs = refs/pull
	maxInputSize = ${pushBytes}
[pack]
	# Each thread holds the objects that it resolves.
	threads = 2
[transfer]
	# Packs stay packs, of pushes, forks and remotes: unpacked into files, a hundred deltas of one large object would take a
	# hundred times its size.
	unpackLimit = 1
	hideRefs = refs/reeve
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[protocol]
	allow = never
[protocol "file"]
	allow = always
[fastimport]
	unpackLimit = 100
`;
}
