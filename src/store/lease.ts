import type { Event } from '../contract/events/events.ts';
import type { Deferral } from '../engine/budget/deferral.ts';
import type { Run } from '../engine/record.ts';
import type { Claim, Store } from './store.ts';

/** The lease of a handler's work. */
export type Lease = {
  /** Aborted when the attempt ends before the handler: later results are not recorded. */
  readonly signal: AbortSignal;
  /** Aborted when the process stops: long work ends at its next step by throwing the result of `giveBack`. */
  readonly stopping: AbortSignal;
  /** Returns the error to throw so that the work returns to its place without spending an attempt, with its checkpoint. */
  giveBack(reason: string): Error;
  /** Records a part of a job and its checkpoint together. It also counts as progress. */
  advance(part: { runs: readonly Run[]; repositoryId?: number; checkpoint: unknown }): Promise<void>;
};

/** Result of a handler. */
export type Handled = {
  readonly runs: readonly Run[];
  /** Why there is no run, as text; stored with the delivery. */
  readonly reason?: string | undefined;
  /** Set if an hourly budget stopped changes: the delivery must be handled again. */
  readonly deferral?: Deferral | undefined;
};

/** Handles a forge's event; its runs are appended when the delivery is settled. */
export type HandleEvent = (delivery: Claim, event: Event, lease: Lease) => Promise<Handled>;

/** Handles a job; `payload` is the enqueued value. */
export type HandleJob = (job: Claim, payload: unknown, lease: Lease) => Promise<Handled>;

/** The part of the store that the worker uses. */
export type WorkerStore = Pick<
  Store,
  | 'unrouted'
  | 'route'
  | 'claim'
  | 'heartbeat'
  | 'settle'
  | 'advance'
  | 'retry'
  | 'defer'
  | 'release'
  | 'bury'
  | 'isLeader'
>;
