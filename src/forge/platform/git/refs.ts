import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '../../../platform/errors.ts';
import { type CommitData, parseCommit } from './commit.ts';
import { cleanTreePath, isIdPrefix, isRefName, zeroIdLike } from './names.ts';
import type { GitRepository } from './repository.ts';

export type Ref = {
  /** Full name, such as `refs/heads/main`. */
  readonly name: string;
  /** Id of the object; for an annotated tag, of the tag object. */
  readonly id: string;
};

/** A change of a branch or tag. Without `before`, the ref is new; without `after`, it was deleted. */
export type RefChange = {
  /** Full name. */
  readonly ref: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** A commit that a caller named, and what kind of name it was. */
export type Resolved = { readonly kind: 'branch' | 'tag' | 'commit'; readonly commit: CommitData };

/** Returns the refs under these prefixes, by default all branches and tags, sorted by name. */
export async function listRefs(
  repository: GitRepository,
  under: readonly string[] = ['refs/heads', 'refs/tags'],
): Promise<readonly Ref[]> {
  const { stdout } = await repository.git.run(
    ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...under],
    { folder: repository.folder },
  );
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const at = line.indexOf(' ');
    return { id: line.slice(0, at), name: line.slice(at + 1) };
  });
}

/** A ref, and the type of its object: `tag` for an annotated tag. */
export type TypedRef = Ref & { readonly type: string };

/** Prefix of the forge's own temporary refs. */
const internal = 'refs/reeve/';

/**
 * Returns all refs whose full name begins with a prefix, including those of pull requests and notes, sorted by name.
 */
export async function listAllRefs(repository: GitRepository, prefix = 'refs/'): Promise<readonly TypedRef[]> {
  const { stdout } = await repository.git.run(
    ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)'],
    { folder: repository.folder },
  );
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    const [id = '', type = '', ...rest] = line.split(' ');
    const name = rest.join(' ');
    return name.startsWith(prefix) && !name.startsWith(internal) ? [{ id, type, name }] : [];
  });
}

/** Branch names, and the state of the ref folders when they were read. */
type BranchList = {
  readonly names: readonly string[];
  readonly folders: readonly string[];
  readonly state: string;
};

/**
 * Returns the names of branches, last committed first, then by name. Reads them again if a ref has been written since,
 * even by another program.
 */
export async function listBranchNames(repository: GitRepository): Promise<readonly string[]> {
  const known = repository.cache.get<BranchList>('branches');
  if (known && known.state === (await stateOfRefs(known.folders))) return known.names;
  const folders = await listRefFolders(repository.folder);
  const before = folders && (await stateOfRefs(folders));
  const { names, hasSymbolic } = await readBranchNames(repository);
  if (folders !== undefined && before !== undefined && !hasSymbolic) {
    const bytes = names.reduce((sum, name) => sum + name.length * 2 + 32, 0);
    repository.cache.set<BranchList>('branches', { names, folders, state: before }, bytes);
  }
  return names;
}

async function readBranchNames(
  repository: GitRepository,
): Promise<{ readonly names: readonly string[]; readonly hasSymbolic: boolean }> {
  const { stdout } = await repository.git.run(
    [
      'for-each-ref',
      '--sort=refname',
      '--sort=-committerdate',
      '--format=%(symref) %(refname:lstrip=2)',
      'refs/heads',
    ],
    { folder: repository.folder },
  );
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  const names = lines.map((line) => line.slice(line.indexOf(' ') + 1));
  // A symbolic branch moves with its target, without a write under refs/heads.
  return { names, hasSymbolic: lines.some((line) => !line.startsWith(' ')) };
}

/** Maximum branch folders to check for changes; with more, refs are always read. */
const maxRefFolders = 64;
/**
 * Minimum age of a folder's timestamp: a folder written more recently may be written again within the same tick of the
 * file system's clock.
 */
const settledMs = 2_000;

/** Returns the folders that contain branches; undefined if there are too many, or if refs are stored differently. */
async function listRefFolders(folder: string): Promise<readonly string[] | undefined> {
  const folders = [join(folder, 'refs', 'heads')];
  try {
    for (const one of folders) {
      const entries = await readdir(one, { withFileTypes: true });
      folders.push(...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(one, name)));
      if (folders.length > maxRefFolders) return undefined;
    }
  } catch {
    return undefined;
  }
  return [...folders, join(folder, 'packed-refs')];
}

/**
 * Returns a text that differs after every change of a branch: git writes a ref to a temporary file and renames it,
 * which changes the time of the folder, and replaces packed refs as one file. Undefined if a folder is missing or was
 * written just now.
 */
async function stateOfRefs(folders: readonly string[]): Promise<string | undefined> {
  const settledBefore = Date.now() - settledMs;
  const states = await Promise.all(
    folders.map(async (path, at) => {
      try {
        const { ino, size, mtimeMs, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
        return mtimeMs < settledBefore ? `${ino} ${size} ${mtimeNs} ${ctimeNs}` : undefined;
      } catch {
        // Only the last entry, `packed-refs`, may be absent.
        return at === folders.length - 1 ? 'none' : undefined;
      }
    }),
  );
  return states.includes(undefined) ? undefined : states.join('\n');
}

/** Returns whether the repository has no branch at all. */
export async function hasNoBranch(repository: GitRepository): Promise<boolean> {
  const { stdout } = await repository.git.run(['for-each-ref', '--count=1', 'refs/heads'], {
    folder: repository.folder,
  });
  return stdout.length === 0;
}

/** Returns the id that a full ref name points to, or undefined. */
export async function readRef(repository: GitRepository, name: string): Promise<string | undefined> {
  return (await repository.objects.info(name))?.id;
}

/** Returns the commit at the head of a branch, or undefined. */
export async function readBranch(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  return isRefName(name) ? await readCommit(repository, `refs/heads/${name}`) : undefined;
}

/** Returns the commit of a tag, or undefined. */
export async function readTag(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  return isRefName(name) ? await readCommit(repository, `refs/tags/${name}^{commit}`) : undefined;
}

/** Returns a commit by a name that git understands, or undefined. Pass only validated names. */
export async function readCommit(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  const object = await repository.objects.read(name);
  return object?.type === 'commit' ? parseCommit(object.id, object.content) : undefined;
}

/** Resolves a name from a caller as a branch, then as a tag, then as a commit by its full or abbreviated id. */
export async function resolveRef(repository: GitRepository, word: string): Promise<Resolved | undefined> {
  const full = /^refs\/(heads|tags)\/(.+)$/s.exec(word);
  const name = full?.[2] ?? word;
  const branch = full?.[1] === 'tags' ? undefined : await readBranch(repository, name);
  if (branch) return { kind: 'branch', commit: branch };
  const tag = full?.[1] === 'heads' ? undefined : await readTag(repository, name);
  if (tag) return { kind: 'tag', commit: tag };
  const commit = isIdPrefix(word) ? await readCommit(repository, `${word}^{commit}`) : undefined;
  return commit ? { kind: 'commit', commit } : undefined;
}

/**
 * Returns whether a text is a revision that is safe to pass to git: a name or an id, one of its ancestors (`main~2`),
 * or a path in it.
 */
export function isRevision(text: string): boolean {
  const colon = text.indexOf(':');
  const [commit, path] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  if (cleanTreePath(path) === undefined) return false;
  const name = commit.replace(/([~^]\d{0,6}){0,20}$/, '');
  return name === 'HEAD' || isRefName(name) || isIdPrefix(name);
}

/**
 * Returns the commit that a text names as an id, then as a branch or tag, then as any other revision. A branch name may
 * look like an id.
 */
export async function findRevision(repository: GitRepository, text: string): Promise<CommitData | undefined> {
  const byId = isIdPrefix(text) ? await readCommit(repository, `${text}^{commit}`) : undefined;
  const known = byId ?? (isRefName(text) ? (await resolveRef(repository, text))?.commit : undefined);
  if (known !== undefined || !isRevision(text)) return known;
  return await readCommit(repository, `${text}^{commit}`);
}

/** One move of a ref. Without `before`, it must not exist yet; without `after`, it is deleted. */
type RefMove = {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** Moves refs atomically. Returns false if one of them was no longer at `before`. */
export async function moveRefs(repository: GitRepository, moves: readonly RefMove[]): Promise<boolean> {
  const lines = moves.map(({ name, before, after }) => {
    if (!isRefName(name.replace(/^refs\//, ''))) {
      throw new ReeveError('git-failed', `"${name}" is not a ref name`);
    }
    if (after === undefined) return `delete ${name} ${before ?? ''}\n`;
    return `update ${name} ${after} ${before ?? zeroIdLike(after)}\n`;
  });
  const { code, stderr } = await repository.git.run(['update-ref', '--stdin'], {
    folder: repository.folder,
    input: lines.join(''),
    expect: [0, 128],
  });
  if (code === 0) return true;
  if (/cannot lock ref|unable to resolve|already exists|is at /.test(stderr)) return false;
  throw new ReeveError('git-failed', `git update-ref ended with ${code}: ${stderr.trim().slice(0, 500)}`);
}
