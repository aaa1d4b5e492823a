import { ReeveError } from '../../errors.ts';
import { type CommitData, parseCommit } from './commit.ts';
import { isIdPrefix, isRefName, zeroIdLike } from './names.ts';
import type { GitRepository } from './repository.ts';

export type Ref = {
  /** Full name, such as `refs/heads/main`. */
  readonly name: string;
  /** What it points at: for an annotated tag the tag object. */
  readonly id: string;
};

/** A branch or tag that moved. No `before`: it is new; no `after`: it is gone. */
export type RefChange = {
  /** Full name. */
  readonly ref: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** A commit that a caller named, and as what. */
export type Resolved = { readonly kind: 'branch' | 'tag' | 'commit'; readonly commit: CommitData };

/** Returns all branches and tags, by name. */
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

/** A ref, and what it points at: `tag` for an annotated tag. */
export type TypedRef = Ref & { readonly type: string };

/** Refs that a call of the forge itself needs for a moment. */
const internal = 'refs/reeve/';

/** Returns all refs, also those of pull requests and notes, whose full name begins with a text, by name. */
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

/** Returns the names of branches, the last committed first, then by name. */
export async function listBranchNames(repository: GitRepository): Promise<readonly string[]> {
  const { stdout } = await repository.git.run(
    ['for-each-ref', '--sort=refname', '--sort=-committerdate', '--format=%(refname:lstrip=2)', 'refs/heads'],
    { folder: repository.folder },
  );
  return stdout.toString('utf8').split('\n').filter(Boolean);
}

/** Tells whether the repository has no branch at all. */
export async function hasNoBranch(repository: GitRepository): Promise<boolean> {
  const { stdout } = await repository.git.run(['for-each-ref', '--count=1', 'refs/heads'], {
    folder: repository.folder,
  });
  return stdout.length === 0;
}

/** Returns the id a full ref name points at, or undefined. */
export async function readRef(repository: GitRepository, name: string): Promise<string | undefined> {
  return (await repository.objects.info(name))?.id;
}

/** Returns the commit at the head of a branch, or undefined. */
export async function readBranch(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  return isRefName(name) ? await readCommit(repository, `refs/heads/${name}`) : undefined;
}

/** Returns the commit that a tag means, or undefined. */
export async function readTag(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  return isRefName(name) ? await readCommit(repository, `refs/tags/${name}^{commit}`) : undefined;
}

/** Returns a commit by a name that git understands, or undefined. Only names that passed a check belong here. */
export async function readCommit(repository: GitRepository, name: string): Promise<CommitData | undefined> {
  const object = await repository.objects.read(name);
  return object?.type === 'commit' ? parseCommit(object.id, object.content) : undefined;
}

/** Returns what a caller's word means: a branch, then a tag, then a commit by its whole or abbreviated id. */
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

/** One move of a ref. No `before` means it must not exist yet, no `after` that it goes. */
type RefMove = {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** Moves refs all at once or not at all; false where one of them was not at `before` any more. */
export async function moveRefs(repository: GitRepository, moves: readonly RefMove[]): Promise<boolean> {
  const lines = moves.map(({ name, before, after }) => {
    if (!isRefName(name.replace(/^refs\//, ''))) {
      throw new ReeveError('git-failed', `"${name}" is no name of a ref`);
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
