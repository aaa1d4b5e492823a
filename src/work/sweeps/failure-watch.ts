import type { ErrorCode, ReeveError } from '../../platform/errors.ts';

/** Items in a row that the forge fails before the sweep ends. */
const maxFailedInARow = 10;
/** Failures after which the next item would fail, too. */
const hopeless: ReadonlySet<ErrorCode> = new Set(['forge-unreachable', 'forge-unauthorized', 'forge-junk']);

/** Watches the items of a sweep for a forge that is down. */
export interface FailureWatch {
  /** Notes how an item went. Throws the failure where the forge fails item after item. */
  note(failure: ReeveError | undefined): void;
}

export function createFailureWatch(): FailureWatch {
  let inARow = 0;
  return {
    note(failure) {
      inARow = failure === undefined ? 0 : inARow + 1;
      // A forge that fails item after item is down: waiting is better than asking for the next.
      if (failure && (hopeless.has(failure.code) || inARow >= maxFailedInARow)) throw failure;
    },
  };
}
