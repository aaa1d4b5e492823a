import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '../../platform/errors.ts';
import type { GitRepository } from '../git/repository.ts';
import type { PushRequest } from './push-request.ts';

/** Where a push lies before git takes it, and how the program that unpacks it is bounded. */
export type Aside = {
  /** The body of the request. */
  readonly file: string;
  /** An empty folder. */
  readonly room: string;
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Unpacks a push beside the repository, which is not touched; returns a repository that has both. Undefined where the pack is
 * broken.
 */
export async function unpackAside(
  git: GitRepository,
  { packAt }: PushRequest,
  { file, room, environment: bounds }: Aside,
): Promise<GitRepository | undefined> {
  if (packAt === undefined) return git;
  const objects = join(room, 'objects');
  await mkdir(join(objects, 'pack'), { recursive: true });
  const environment = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git.folder, 'objects'),
  };
  const run: GitRepository['git']['run'] = (args, options = {}) =>
    git.git.run(args, { ...options, environment: { ...options.environment, ...environment } });
  try {
    await run(['index-pack', '--stdin', '--fix-thin'], {
      folder: git.folder,
      input: createReadStream(file, { start: packAt }),
      environment: bounds,
      timeoutMs: 600_000,
    });
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'git-failed') return undefined;
    throw error;
  }
  return { ...git, git: { ...git.git, run } };
}
