import { createHash } from 'node:crypto';
import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

export type FileStatus = 'added' | 'changed' | 'deleted' | 'renamed' | 'copied';
export type FileChange = {
  readonly path: string;
  /** The path before, where it was renamed or copied. */
  readonly from: string | undefined;
  readonly status: FileStatus;
  /** Lines; 0 for binary files. */
  readonly additions: number;
  readonly deletions: number;
};

const statuses: Readonly<Record<string, FileStatus>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

/** Returns what changes between two commits or trees, renames found, in path order. */
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
  return parseChanges(stdout.toString('utf8').split('\0'));
}

/** Fields in a row: first all `:modes status`, path, path; then all counts, where a rename brings two more fields. */
function parseChanges(fields: readonly string[]): FileChange[] {
  const changes: FileChange[] = [];
  const counts = new Map<string, { additions: number; deletions: number }>();
  let at = 0;
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
    const [added, deleted, path] = field.split('\t');
    if (added === undefined || deleted === undefined || path === undefined) continue;
    if (path === '') next();
    const name = path === '' ? next() : path;
    // Binary files have a dash for a number.
    counts.set(name, { additions: Number(added) || 0, deletions: Number(deleted) || 0 });
  }
  return changes.map((change) => ({ ...change, ...counts.get(change.path) }));
}

/** Returns the paths that one commit adds, removes and changes against its first parent. */
export async function listTouched(
  repository: GitRepository,
  commitId: string,
): Promise<{ added: string[]; removed: string[]; modified: string[] }> {
  requireIds(commitId);
  const { stdout } = await repository.git.run(
    [
      'diff-tree',
      '-r',
      '-z',
      '--root',
      '--first-parent',
      '-m',
      '--no-commit-id',
      '--name-status',
      '--no-renames',
      commitId,
      '--',
    ],
    { folder: repository.folder },
  );
  const touched = { added: [] as string[], removed: [] as string[], modified: [] as string[] };
  const fields = stdout.toString('utf8').split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const path = fields[at + 1] ?? '';
    if (fields[at] === 'A') touched.added.push(path);
    else if (fields[at] === 'D') touched.removed.push(path);
    else touched.modified.push(path);
  }
  return touched;
}

/**
 * Returns a mark of what a change does, whatever it starts from: equal before and after a plain rebase, another as soon
 * as one changed line differs. It tells whether a review has become stale.
 */
export async function markOfChange(repository: GitRepository, from: string, to: string): Promise<string> {
  requireIds(from, to);
  const hash = createHash('sha256');
  const { stdout } = await repository.git.run(
    ['diff-tree', '-r', '-p', '-U0', '--no-renames', from, to, '--'],
    {
      folder: repository.folder,
      maxBytes: 256 * 1024 * 1024,
    },
  );
  // Positions and object ids move with the base; the changed lines alone are the change.
  for (const line of stdout.toString('latin1').split('\n')) {
    if (/^(index |@@ )/.test(line)) continue;
    hash.update(line).update('\n');
  }
  return hash.digest('hex');
}

function requireIds(...ids: readonly string[]): void {
  for (const id of ids) if (!isObjectId(id)) throw new TypeError(`"${id}" is no object id`);
}
