import { ReeveError } from '../../platform/errors.ts';

/** Key in the memory of a store under which a copy stores its progress. The key itself is not copied. */
export const markKey = 'store copy';

/** Progress of a copy, stored in its target. */
export type CopyMark = {
  /** Name of the source. */
  readonly source: string;
  /** Start of the copy. All times are RFC 3339. */
  readonly startedAt: string;
  /** The table that is being copied, and the key of its last copied row; absent before the first row. */
  readonly table?: string;
  readonly after?: readonly (string | number)[];
  /** Set once the copy is complete and verified. */
  readonly completedAt?: string;
};

/** Returns the mark that a store contains. */
export function parseMark(json: unknown): CopyMark | undefined {
  // Store boundary: only a copy writes under this key.
  return typeof json === 'string' ? (JSON.parse(json) as CopyMark) : undefined;
}

/**
 * Throws `store-unfinished` if the store is a copy that has not been completed. `json` is the value under `markKey`.
 */
export function requireFinished(json: unknown, name: string): void {
  const mark = parseMark(json);
  if (mark === undefined || mark.completedAt !== undefined) return;
  throw new ReeveError(
    'store-unfinished',
    `the store in ${name} is an unfinished copy of ${mark.source}: run the same reeve store copy again to finish it, or with --restart to start over`,
  );
}
