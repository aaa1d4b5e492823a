import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, ReeveError } from '../../platform/errors.ts';

const full = 'the disk is full';
const readOnly = 'the file or its disk is read-only';
const failing = 'the disk reports an error';
const closed = 'the file cannot be opened';

/** Primary result codes of SQLite for a write refused by the disk, or by a process that shares it. */
const refusals: Readonly<Record<number, string>> = {
  5: 'another process is writing and does not finish',
  8: readOnly,
  10: failing,
  11: 'the file is damaged',
  13: full,
  14: closed,
  26: 'the file is not a SQLite database',
};

/** Error codes of Node for the same refusals, for files that are created before SQLite opens them. */
const refusalsOfFiles: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: full,
  EROFS: readOnly,
  EIO: failing,
  EACCES: closed,
  EPERM: closed,
  ENOTDIR: closed,
  EISDIR: closed,
};

/**
 * Converts an error of SQLite or Node to `store-unwritable` if the disk refused; other errors are returned unchanged.
 */
export function asStoreError(error: unknown, path: string): unknown {
  const refusal = refusalReason(error);
  if (refusal === undefined) return error;
  // SQLite reports any failed write to its shared memory as a disk error.
  const reason = (refusal === failing || refusal === closed) && isFull(path) ? full : refusal;
  return new ReeveError('store-unwritable', `the store ${path} refuses: ${reason} (${messageOf(error)})`, {
    cause: error,
    retryAfterMs: 5_000,
  });
}

/** Returns whether SQLite refused because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code !== undefined && (code & 0xff) === 5;
}

function refusalReason(error: unknown): string | undefined {
  const code = resultCodeOf(error);
  if (code !== undefined) return refusals[code & 0xff];
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error instanceof ReeveError ? undefined : refusalsOfFiles[error.code];
}

function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Returns whether the disk of the path has less than 64 KiB of free space. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < 65_536;
  } catch {
    return false;
  }
}
