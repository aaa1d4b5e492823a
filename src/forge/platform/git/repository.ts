import type { RepositoryCache } from './git-cache.ts';
import type { ObjectReader } from './objects.ts';
import type { Git } from './process.ts';

declare const permitted: unique symbol;

/** Proof that those for whom objects leave a repository may read its code. `permitCopy` of `access/code.ts` alone makes one. */
export type CopyPermit = { readonly from: number; readonly [permitted]: true };

/** Refuses to take objects from another repository than the one that the permit is for. */
export function assertPermitted(permit: CopyPermit, fromId: number): void {
  if (permit.from !== fromId) throw new TypeError(`no permit to copy from repository ${fromId}`);
}

/** One bare repository on disk: what the functions of this folder take first. */
export type GitRepository = {
  readonly id: number;
  /** Absolute path of the bare repository. */
  readonly folder: string;
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly cache: RepositoryCache;
};
