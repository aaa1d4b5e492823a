import { messageOf, ReeveError } from '../errors.ts';

/** The primary result codes of SQLite that say "the disk (or whoever shares it) does not let me write". */
const refusals: Readonly<Record<number, string>> = {
  5: 'another process is writing and does not finish',
  8: 'the file or its disk is read-only',
  10: 'the disk reports an error',
  11: 'the file is damaged',
  13: 'the disk is full',
  14: 'the file cannot be opened',
  26: 'the file is no SQLite database',
};

/** Returns what SQLite threw as a `store-unwritable` where the disk refused; anything else as it is. */
export function asStoreError(error: unknown, path: string): unknown {
  const code = resultCodeOf(error);
  const reason = code === undefined ? undefined : refusals[code & 0xff];
  if (reason === undefined) return error;
  return new ReeveError('store-unwritable', `the store ${path} refuses: ${reason} (${messageOf(error)})`, {
    cause: error,
    retryAfterMs: 5_000,
  });
}

function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}
