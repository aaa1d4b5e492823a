import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/**
 * Returns the difference between two commits as text: `diff` in one piece, `patch` one mail for each commit between
 * them. `binary` puts the content of binary files in. Without `from`, it is that of a first commit, whose `diff` begins with
 * the commit itself, as on the baseline. Throws `git-failed` above 64 MiB.
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
