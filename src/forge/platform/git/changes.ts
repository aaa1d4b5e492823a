import { ReeveError } from '../../../platform/errors.ts';
import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

type FileStatus = 'added' | 'changed' | 'deleted' | 'renamed' | 'copied';
export type FileChange = {
  readonly path: string;
  /** The previous path, if renamed or copied. */
  readonly from: string | undefined;
  readonly status: FileStatus;
  /** Number of lines; 0 for binary files. */
  readonly additions: number;
  readonly deletions: number;
};

const statuses: Readonly<Record<string, FileStatus>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

/** Returns the changes between two commits or trees, with renames detected, in path order. */
export async function listChanges(
  repository: GitRepository,
  from: string,
  to: string,
): Promise<readonly FileChange[]> {
  requireIds(from, to);
  const { stdout } = await repository.git.run(
    ['diff-tree', '-r', '-z', '-M', '--raw', '--numstat', from, to, '--'],
    {
      folder: repository.folder,
    },
  );
  return parseChanges(fieldsOf(stdout)).changes;
}

/** Maximum commits that one process compares, because its output is held in memory. */
const atOnce = 500;

/**
 * Returns the changes of each commit against its first parent, with renames detected; commits without changes are
 * absent.
 */
export async function listChangesOf(
  repository: GitRepository,
  commitIds: readonly string[],
): Promise<ReadonlyMap<string, readonly FileChange[]>> {
  requireIds(...commitIds);
  const found = new Map<string, readonly FileChange[]>();
  for (let from = 0; from < commitIds.length; from += atOnce) {
    const fields = await compareWithParents(repository, commitIds.slice(from, from + atOnce));
    for (let at = 0; at < fields.length; ) {
      const id = fields[at] ?? '';
      const { changes, end } = parseChanges(fields, at + 1);
      if (isObjectId(id)) found.set(id, changes);
      at = end;
    }
  }
  return found;
}

async function compareWithParents(
  repository: GitRepository,
  commitIds: readonly string[],
): Promise<readonly string[]> {
  const { stdout } = await repository.git.run(
    ['diff-tree', '--stdin', '-r', '-z', '-M', '--root', '--first-parent', '-m', '--raw', '--numstat'],
    { folder: repository.folder, input: commitIds.map((id) => `${id}\n`).join('') },
  );
  return fieldsOf(stdout);
}

/** Returns the paths that changes add, remove and modify, in order; a renamed file counts as removed and added. */
export function touchedBy(changes: readonly FileChange[]): Touched {
  const paths = { added: [] as string[], removed: [] as string[], modified: [] as string[] };
  for (const { status, path, from } of changes) {
    paths[touches[status]].push(path);
    if (status === 'renamed' && from !== undefined) paths.removed.push(from);
  }
  paths.removed.sort();
  return paths;
}

type Touch = 'added' | 'removed' | 'modified';
/** Paths by kind of change. */
export type Touched = Readonly<Record<Touch, string[]>>;
const touches = {
  added: 'added',
  changed: 'modified',
  deleted: 'removed',
  renamed: 'added',
  copied: 'added',
} as const satisfies Record<FileStatus, Touch>;

function fieldsOf(output: Buffer): readonly string[] {
  return output.toString('utf8').split('\0');
}

/**
 * Parses the fields of one comparison: first every `:modes status` field with its path, or two paths if renamed or
 * copied; then every count field, followed by two paths if renamed or copied. `end` is where the next comparison
 * starts, or the end of the fields.
 */
function parseChanges(
  fields: readonly string[],
  start = 0,
): { readonly changes: readonly FileChange[]; readonly end: number } {
  const changes: FileChange[] = [];
  const counts = new Map<string, { additions: number; deletions: number }>();
  let at = start;
  const next = (): string => fields[at++] ?? '';
  while (at < fields.length) {
    const field = next();
    if (field.startsWith(':')) {
      const sign = field.split(' ')[4]?.[0] ?? 'M';
      const first = next();
      const isMoved = sign === 'R' || sign === 'C';
      const path = isMoved ? next() : first;
      const status = statuses[sign] ?? 'changed';
      changes.push({ path, from: isMoved ? first : undefined, status, additions: 0, deletions: 0 });
      continue;
    }
    // A path may contain tabs.
    const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? [];
    if (added === undefined || deleted === undefined || path === undefined) {
      at -= 1;
      break;
    }
    if (path === '') next();
    const name = path === '' ? next() : path;
    // Binary files have dashes instead of numbers.
    counts.set(name, { additions: Number(added) || 0, deletions: Number(deleted) || 0 });
  }
  return { changes: changes.map((change) => ({ ...change, ...counts.get(change.path) })), end: at };
}

/** Returns the paths that one commit adds, removes and modifies against its first parent. */
export async function listTouched(repository: GitRepository, commitId: string): Promise<Touched> {
  const changes = await listChangesOf(repository, [commitId]);
  return touchedBy(changes.get(commitId) ?? []);
}

/**
 * Returns the touched paths of several commits. Compares all commits at once, or one by one if their combined changes
 * are too many.
 */
export async function listTouchedBy(
  repository: GitRepository,
  commitIds: readonly string[],
): Promise<ReadonlyMap<string, Touched>> {
  const ids = [...new Set(commitIds)];
  try {
    const changes = await listChangesOf(repository, ids);
    return new Map(ids.map((id) => [id, touchedBy(changes.get(id) ?? [])]));
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'git-failed' || ids.length === 1) throw error;
    const touched = new Map<string, Touched>();
    for (const id of ids) touched.set(id, await listTouched(repository, id));
    return touched;
  }
}

function requireIds(...ids: readonly string[]): void {
  for (const id of ids) if (!isObjectId(id)) throw new TypeError(`"${id}" is not an object id`);
}

/**
 * Returns the difference between two commits as text: `diff` in one piece, or `patch` with one mail for each commit
 * between them. `binary` includes the content of binary files. Without `from`, `to` is a root commit, and its `diff`
 * begins with the commit itself, as in Gitea. Throws `git-failed` above 64 MiB.
 */
export async function readDiff(
  repository: GitRepository,
  from: string | undefined,
  to: string,
  options: { kind: 'diff' | 'patch'; binary: boolean },
): Promise<string> {
  if ((from !== undefined && !isObjectId(from)) || !isObjectId(to))
    throw new TypeError(`"${from}..${to}" are not object ids`);
  const binary = options.binary ? ['-p', '--binary'] : ['-p'];
  const mails = ['format-patch', '--binary', '--stdout'];
  const command =
    options.kind === 'patch'
      ? [...mails, ...(from === undefined ? ['--root', to] : [`${from}..${to}`]), '--']
      : [...(from === undefined ? ['show', ...binary] : ['diff', ...binary, from]), to, '--'];
  const { stdout } = await repository.git.run(command, { folder: repository.folder });
  return stdout.toString('utf8');
}

/**
 * Returns the beginning of the difference between two commits, up to a number of bytes. Without `from`, `to` is a root
 * commit. `isCut`: the text is truncated.
 */
export async function readDiffStart(
  repository: GitRepository,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  maxBytes: number,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  for (const id of from === undefined ? [to] : [from, to])
    if (!isObjectId(id)) throw new TypeError(`"${id}" is not an object id`);
  const command = ['diff-tree', '-p', '-M', '--no-commit-id', '--root'];
  const pieces: Buffer[] = [];
  let bytes = 0;
  await repository.git.run([...command, ...(from === undefined ? [] : [from]), to, '--'], {
    folder: repository.folder,
    onOutput(piece) {
      pieces.push(piece);
      bytes += piece.length;
      return bytes <= maxBytes;
    },
  });
  const isCut = bytes > maxBytes;
  return { text: Buffer.concat(pieces).subarray(0, maxBytes).toString('utf8'), isCut };
}
