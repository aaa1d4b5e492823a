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
 * The repositories on disk, in folders named by repository id: a rename moves nothing. The wiki of a repository has the
 * negative of its id.
 */
export interface GitStore {
  /** Makes an empty bare repository whose HEAD names the default branch. */
  create(
    repositoryId: number,
    options: { defaultBranch: string; objectFormat?: 'sha1' | 'sha256' },
  ): Promise<void>;
  /** Makes a bare repository with the branches and tags of another. */
  copy(fromId: number, repositoryId: number, permit: CopyPermit): Promise<void>;
  /** Repositories of the folder that no row names. */
  readonly unadopted: Omit<UnadoptedRepositories, 'copyTo'>;
  /** Makes a repository with all refs of an unadopted one, which stays. */
  adopt(name: UnadoptedName, repositoryId: number): Promise<void>;
  open(repositoryId: number): GitRepository;
  /**
   * Runs work on a repository that has the objects of another one besides its own, for as long as the work takes. Nothing is
   * written, and nothing of it is stored in memory.
   */
  withObjectsOf<T>(
    repositoryId: number,
    from: { readonly id: number; readonly permit: CopyPermit },
    work: (both: GitRepository) => Promise<T>,
  ): Promise<T>;
  /** Returns whether there is a repository of this id. */
  exists(repositoryId: number): boolean;
  /** Points HEAD at another branch. */
  setDefaultBranch(repositoryId: number, branch: string): Promise<void>;
  /** Commits files onto a branch, or as its first commit; returns the commit's id. Emits nothing. */
  commitFiles(repositoryId: number, commit: FileCommit): Promise<string>;
  /** Returns how many objects there are, and how many bytes they take on disk. */
  measure(repositoryId: number): Promise<{ readonly objects: number; readonly bytes: number }>;
  /** Prepares the history for walks if many objects came since the last time; `objects` is how many there are now. */
  indexHistory(repositoryId: number, objects: number): Promise<void>;
  /** Removes the repository and its wiki from disk; what is gone already is fine. */
  remove(repositoryId: number): Promise<void>;
  /**
   * Runs work alone: `refs` for what moves refs of a repository, so that before and after are its own; `pulls` for what
   * keeps its pull requests in line with them. Work on refs must not wait for work on refs of another repository.
   */
  exclusively<T>(repositoryId: number, room: 'refs' | 'pulls', work: () => Promise<T>): Promise<T>;
  /** Ends the processes that were kept. */
  close(): void;
}

/** Views of two repositories at a time: each has a process of its own, and git's history of the other one in its memory. */
const maxViews = 8;

/** Returns a path as an entry of a list of paths that git reads: a plain one would end at a colon. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Creates the store in a folder, which is created where it is missing. `limits` bound what a push may bring. `launcher`: one
 * that others use too; default: one of its own, which ends with it.
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
  // A process goes on reading objects that are removed meanwhile; what is stored is not older than the process.
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
      // Its folder may have been lost, with all that is known of it.
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

/** Returns the one configuration that git reads for every repository of the forge. */
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
