import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/**
 * Returns the difference between two commits as text: `diff` in one piece, `patch` one mail for each commit between
 * them. `binary` puts the content of binary files in. Throws `git-failed` above 64 MiB.
 */
export async function readDiff(
  repository: GitRepository,
  from: string,
  to: string,
  options: { kind: 'diff' | 'patch'; binary: boolean },
): Promise<string> {
  if (!isObjectId(from) || !isObjectId(to)) throw new TypeError(`"${from}..${to}" are no object ids`);
  const command =
    options.kind === 'patch'
      ? ['format-patch', '--binary', '--stdout', `${from}..${to}`, '--']
      : ['diff', ...(options.binary ? ['-p', '--binary'] : ['-p']), from, to, '--'];
  const { stdout } = await repository.git.run(command, { folder: repository.folder });
  return stdout.toString('utf8');
}
