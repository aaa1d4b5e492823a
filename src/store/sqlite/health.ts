import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../platform/errors.ts';
import type { Health } from '../store.ts';

/** Below this much free space, or 5 % of the disk where that is less, the store is not healthy. */
const leastFreeBytes = 200 * 2 ** 20;

/**
 * Creates the check of a store. It writes as many bytes as the largest write that the disk has refused lately, so that a disk
 * that only takes small ones fails it. Calls at the same time share one check.
 */
export function createHealthCheck(options: {
  /** The store's file; undefined for a store in memory. */
  readonly path: string | undefined;
  /** Writes so many bytes. */
  readonly probe: (bytes: number) => Promise<void>;
  readonly refusedBytes: () => number;
  /** Why the log cannot be copied into the database at present. */
  readonly checkpointFailure: () => string | undefined;
}): () => Promise<Health> {
  let running: Promise<Health> | undefined;

  const look = async (): Promise<Health> => {
    try {
      await options.probe(options.refusedBytes());
      const failure = options.checkpointFailure();
      if (failure !== undefined) {
        return {
          ok: false,
          freeBytes: undefined,
          reason: `the log cannot be copied into the database: ${failure}`,
        };
      }
      return options.path === undefined
        ? { ok: true, freeBytes: undefined }
        : await lookForSpace(options.path);
    } catch (error) {
      return { ok: false, freeBytes: undefined, reason: messageOf(error) };
    }
  };

  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function lookForSpace(path: string): Promise<Health> {
  const { bavail, blocks, bsize } = await statfs(dirname(path));
  const freeBytes = bavail * bsize;
  if (freeBytes >= Math.min(leastFreeBytes, 0.05 * blocks * bsize)) return { ok: true, freeBytes };
  return { ok: false, freeBytes, reason: `only ${Math.floor(freeBytes / 2 ** 20)} MB free at ${path}` };
}
