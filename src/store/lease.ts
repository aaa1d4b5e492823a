import type { Event } from '../contract/events/events.ts';
import type { Deferral } from '../engine/budget/deferral.ts';
import type { Run } from '../engine/record.ts';
import type { Claim, Store } from './store.ts';

/** What a handler may do with the lease of its work. */
export type Lease = {
  /** Aborted when the attempt is over before the handler is: what it does after that is not recorded. */
  readonly signal: AbortSignal;
  /** Aborted when the process is asked to stop: long work ends at its next step by throwing what `giveBack` returns. */
  readonly stopping: AbortSignal;
  /** Returns what to throw so that the work returns to its place as if it had not been begun, with its checkpoint. */
  giveBack(reason: string): Error;
  /** Records a job's part and where to go on after a crash, together. Also shows that the work does not hang. */
  advance(part: { runs: readonly Run[]; repositoryId?: number; checkpoint: unknown }): Promise<void>;
};

/** What a handler did with a delivery. */
export type Handled = {
  readonly runs: readonly Run[];
  /** Why there is no run, for people: kept with the delivery. */
  readonly reason?: string | undefined;
  /** Set where an hourly budget stopped changes: the delivery is to be handled again. */
  readonly deferral?: Deferral | undefined;
};

/** Handles a forge's event; its runs are appended as the delivery is settled. */
export type HandleEvent = (delivery: Claim, event: Event, lease: Lease) => Promise<Handled>;

/** Handles a job of our own; `payload` is what was enqueued. */
export type HandleJob = (job: Claim, payload: unknown, lease: Lease) => Promise<Handled>;

/** What the worker needs of the store. */
export type WorkerStore = Pick<
  Store,
  'unrouted' | 'route' | 'claim' | 'heartbeat' | 'settle' | 'advance' | 'retry' | 'defer' | 'release' | 'bury'
>;
