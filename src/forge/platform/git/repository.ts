import type { RepositoryCache } from './git-cache.ts';
import type { ObjectReader } from './objects.ts';
import type { Git } from './process.ts';

declare const permitted: unique symbol;

/**
 * Proof that the recipients of a repository's objects may read its code. Only `permitCopy` of `access/code.ts` creates
 * one.
 */
export type CopyPermit = { readonly from: number; readonly [permitted]: true };

/** Throws if objects would come from a repository other than the permit's. */
export function assertPermitted(permit: CopyPermit, fromId: number): void {
  if (permit.from !== fromId) throw new TypeError(`no permit to copy from repository ${fromId}`);
}

/** One bare repository on disk: the first parameter of the functions in this folder. */
export type GitRepository = {
  readonly id: number;
  /** Absolute path of the bare repository. */
  readonly folder: string;
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly cache: RepositoryCache;
};
