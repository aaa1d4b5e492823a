import type { Event } from '../contract/events/events.ts';
import type { Deferral } from '../engine/budget/deferral.ts';
import type { Run } from '../engine/record.ts';
import { ReeveError } from '../platform/errors.ts';
import type { SqlRow } from './sql.ts';
import type { AttemptEndings, Claim, DeliveryClaims, DeliveryIntake } from './store.ts';

/** Leases of this process with their end times in monotonic milliseconds, so that clock changes do not end them. */
export class Leases {
  readonly #ends = new Map<string, number>();
  #lately: Set<string> | undefined;

  grant(lease: string, endMs: number): void {
    this.#ends.set(lease, endMs);
  }

  end(lease: string): void {
    if (this.#ends.delete(lease)) this.#lately?.add(lease);
  }

  /** Returns a set that collects the leases ending from now on, until the next call. */
  noteEnds(): ReadonlySet<string> {
    this.#lately = new Set();
    return this.#lately;
  }

  /** Returns whether the lease was granted and is still recorded here, even if its time is over. */
  has(lease: string): boolean {
    return this.#ends.has(lease);
  }

  /** Ends all leases. */
  clear(): void {
    this.#ends.clear();
  }

  /** Returns the leases that have ended by the given time. */
  endedBy(nowMs: number): readonly string[] {
    return [...this.#ends].filter(([, endMs]) => endMs <= nowMs).map(([lease]) => lease);
  }

  /**
   * Extends a lease from now on. Throws `lease-lost` for a lease whose time is over, even if its delivery has not been
   * returned to its lane yet, which avoids a special case.
   */
  extend(claim: Claim, nowMs: number, leaseMs: number): void {
    if ((this.#ends.get(claim.lease) ?? 0) <= nowMs) throw leaseLost(claim);
    this.#ends.set(claim.lease, nowMs + leaseMs);
  }
}

/** Returns the error of a claim whose lease has ended. */
export function leaseLost({ id }: Claim): ReeveError {
  return new ReeveError('lease-lost', `delivery ${id} is no longer ours: its lease has ended`);
}

/** Time for which a delivery that may have crashed the process is handled alone. It doubles with each suspicion. */
const isolationMs = 10_000;
const maxIsolationMs = 600_000;

/** Returns the time for which a delivery is handled alone. */
export function isolationMsOf(suspicion: number): number {
  return Math.min(isolationMs * 2 ** Math.max(suspicion - 1, 0), maxIsolationMs);
}

/**
 * Returns the id of the next suspected delivery to handle. The rows have `id` and `suspicion`, in id order. The first
 * and the last row alternate, so that a long-running delivery cannot hide the cause.
 */
export function nextSuspected(rows: readonly SqlRow[]): number | undefined {
  const isOdd = Math.max(...rows.map(({ suspicion }) => Number(suspicion))) % 2 === 1;
  const row = isOdd ? rows[0] : rows.at(-1);
  return row === undefined ? undefined : Number(row.id);
}

/** Lease under which a handler works. */
export type Lease = {
  /** Aborted if the attempt ends before the handler does; later results are not recorded. */
  readonly signal: AbortSignal;
  /** Aborted when the process stops. Long work then ends at its next step by throwing the result of `giveBack`. */
  readonly stopping: AbortSignal;
  /**
   * Returns an error that, when thrown, returns the work to its lane with its checkpoint. This does not count as an
   * attempt.
   */
  giveBack(reason: string): Error;
  /** Records a part of a job, and its checkpoint, in one transaction. This also counts as progress. */
  advance(part: { runs: readonly Run[]; repositoryId?: number; checkpoint: unknown }): Promise<void>;
};

/** Result of a handler. */
export type Handled = {
  readonly runs: readonly Run[];
  /** Why there is no run, as text; stored with the delivery. */
  readonly reason?: string | undefined;
  /** Set if an hourly budget stopped changes, so the delivery must be handled again. */
  readonly deferral?: Deferral | undefined;
};

/** Handles an event of the forge. Its runs are appended when the delivery is settled. */
export type HandleEvent = (delivery: Claim, event: Event, lease: Lease) => Promise<Handled>;

/** Handles a job. `payload` is the value that was enqueued. */
export type HandleJob = (job: Claim, payload: unknown, lease: Lease) => Promise<Handled>;

/** The part of the store that the worker uses. */
export interface WorkerStore extends DeliveryClaims, AttemptEndings, Pick<DeliveryIntake, 'onCommitted'> {
  isLeader(): boolean;
}
