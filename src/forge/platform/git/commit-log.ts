import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/**
 * Filter of a commit list: commits reachable from `to` but not from `not`, optionally limited to one path and a time
 * range.
 */
export type CommitFilter = {
  /** Full id. */
  readonly to: string;
  /** Full id. */
  readonly not?: string | undefined;
  /** Normalized path of a file or folder. */
  readonly path?: string | undefined;
  /** Seconds since 1970, compared with the committer date. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

function argumentsOf({ to, not, path, since, until }: CommitFilter): string[] {
  if (!isObjectId(to) || (not !== undefined && !isObjectId(not)))
    throw new TypeError('full ids are required');
  return [
    ...(since === undefined ? [] : [`--max-age=${Math.max(0, since)}`]),
    ...(until === undefined ? [] : [`--min-age=${Math.max(0, until)}`]),
    to,
    ...(not === undefined ? [] : [`^${not}`]),
    '--',
    ...(path === undefined ? [] : [path]),
  ];
}

/** Returns the number of commits that match a filter. */
export async function countFiltered(repository: GitRepository, filter: CommitFilter): Promise<number> {
  const { stdout } = await repository.git.run(['rev-list', '--count', ...argumentsOf(filter)], {
    folder: repository.folder,
  });
  return Number(stdout.toString('latin1').trim());
}

/** Returns the ids of commits that match a filter, newest first. */
export async function listFiltered(
  repository: GitRepository,
  filter: CommitFilter,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): Promise<readonly string[]> {
  const { stdout } = await repository.git.run(
    ['rev-list', `--skip=${skip}`, `--max-count=${limit}`, ...argumentsOf(filter)],
    { folder: repository.folder },
  );
  return stdout.toString('latin1').split('\n').filter(Boolean);
}
