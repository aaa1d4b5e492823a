import type { Clock } from '../../../platform/clock.ts';

/** What the methods of a store share. */
export type StoreContext = {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Runs a synchronous write in the next transaction; `weight` is its size in bytes. Resolves once it is durable. */
  readonly write: <Result>(work: () => Result, weight?: number) => Promise<Result>;
  /** Runs a synchronous write that a power failure may undo (`UnsyncedWrites`). Resolves without waiting for the disk. */
  readonly writeUnsynced: <Result>(work: () => Result) => Promise<Result>;
  /** Reads, and names a disk's refusal as a store error. */
  readonly read: <Result>(ask: () => Result) => Result;
  /** Throws where the store was opened as reader. */
  readonly requireWorker: () => void;
};
