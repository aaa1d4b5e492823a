import type { RepositoryCache } from './git-cache.ts';
import type { ObjectReader } from './objects.ts';
import type { Git } from './process.ts';

/** One bare repository on disk: what the functions of this folder take first. */
export type GitRepository = {
  readonly id: number;
  /** Absolute path of the bare repository. */
  readonly folder: string;
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly cache: RepositoryCache;
};
