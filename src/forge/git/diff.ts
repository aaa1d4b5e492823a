import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/**
 * Returns the difference between two commits as text: `diff` in one piece, `patch` one mail for each commit between
 * them. `binary` puts the content of binary files in. Without `from`, it is that of a first commit, whose `diff` begins with
 * the commit itself, as on Gitea. Throws `git-failed` above 64 MiB.
 */
export async function readDiff(
  repository: GitRepository,
  from: string | undefined,
  to: string,
  options: { kind: 'diff' | 'patch'; binary: boolean },
): Promise<string> {
  if ((from !== undefined && !isObjectId(from)) || !isObjectId(to))
    throw new TypeError(`"${from}..${to}" are no object ids`);
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
 * Returns the beginning of the difference between two commits, up to a number of bytes; without `from`, of what a first commit
 * adds. `isCut`: there is more of it.
 */
export async function readDiffStart(
  repository: GitRepository,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  maxBytes: number,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  for (const id of from === undefined ? [to] : [from, to])
    if (!isObjectId(id)) throw new TypeError(`"${id}" is no object id`);
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
