import { ReeveError } from '../platform/errors.ts';
import type { Claim } from './store.ts';

/** Leases of this process and when they end, in monotonic milliseconds: a clock that jumps ends none. */
export class Leases {
  readonly #ends = new Map<string, number>();
  #lately: Set<string> | undefined;

  grant(lease: string, endMs: number): void {
    this.#ends.set(lease, endMs);
  }

  end(lease: string): void {
    if (this.#ends.delete(lease)) this.#lately?.add(lease);
  }

  /** Returns the leases that end from now on, until the next call. */
  noteEnds(): ReadonlySet<string> {
    this.#lately = new Set();
    return this.#lately;
  }

  /** Returns whether the lease was granted and is not yet given away. */
  has(lease: string): boolean {
    return this.#ends.has(lease);
  }

  /** Ends all leases. */
  clear(): void {
    this.#ends.clear();
  }

  /** Returns the leases that have ended by then. */
  endedBy(nowMs: number): readonly string[] {
    return [...this.#ends].filter(([, endMs]) => endMs <= nowMs).map(([lease]) => lease);
  }

  /**
   * Extends a lease from now on. Throws `lease-lost` also for one that has ended and was not yet given away: fewer cases
   * to be wrong in.
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
