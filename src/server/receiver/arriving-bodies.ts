import { Slots } from '../../platform/cache/slots.ts';
import type { Clock } from '../../platform/clock.ts';

/** A body in the memory budget. */
export interface BudgetedBody {
  /** Address of the sender. */
  readonly address: string;
  /** Called when a waiting body may continue. */
  resume(): void;
  /** Called when the body is dropped. It must be released in this call. */
  drop(): void;
  /** What the budget knows of the body while it is open; set by the budget alone. */
  entry?: OpenBody | undefined;
}

/** A body up to this size always gets memory: deliveries are rarely larger. */
export const smallBytes = 256 * 1024;

/** A large body that is still arriving after this time may be dropped in favour of others. */
const slowAfterMs = 1_000;

export type OpenBody = {
  readonly body: BudgetedBody;
  slot: number;
  /** Grows with each body. */
  readonly serial: number;
  readonly openedMs: number;
  bytes: number;
  isComplete: boolean;
  /** While it waits: since when, and for how many bytes. Time spent waiting does not make a body slow. */
  wait: { readonly sinceMs: number; readonly bytes: number } | undefined;
  waitedMs: number;
};

/** The bodies in memory, and what they hold. */
export class ArrivingBodies {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #open = new Slots<OpenBody>();
  #serial = 0;
  readonly #largeOf = new Map<string, number>();
  #large = 0;
  #small = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Bytes of all bodies above 256 KiB. */
  get large(): number {
    return this.#large;
  }

  /** Bytes of all other bodies. */
  get small(): number {
    return this.#small;
  }

  /** Returns the bytes of the bodies above 256 KiB of one address. */
  largeOf(address: string): number {
    return this.#largeOf.get(address) ?? 0;
  }

  /** Returns the entry of a body, which is added if it is new. */
  open(body: BudgetedBody): OpenBody {
    if (body.entry !== undefined) return body.entry;
    this.#serial += 1;
    const entry: OpenBody = {
      body,
      slot: 0,
      serial: this.#serial,
      openedMs: this.#clock.monotonicMs(),
      bytes: 0,
      isComplete: false,
      wait: undefined,
      waitedMs: 0,
    };
    entry.slot = this.#open.add(entry);
    body.entry = entry;
    return entry;
  }

  /** Sets what a body holds. */
  hold(entry: OpenBody, bytes: number): void {
    this.#count(entry, -1);
    entry.bytes = bytes;
    this.#count(entry, 1);
  }

  /** Removes a body. */
  remove(entry: OpenBody): void {
    this.#open.take(entry.slot);
    entry.body.entry = undefined;
    this.#count(entry, -1);
  }

  /** Returns the largest slow body above 256 KiB, of one address where one is given. */
  findSlow(address?: string): OpenBody | undefined {
    let found: OpenBody | undefined;
    for (const entry of this.#open) {
      if (!isOf(entry, address) || !this.#isSlow(entry)) continue;
      if (found === undefined || entry.bytes > found.bytes) found = entry;
    }
    return found;
  }

  /** Returns whether another large body, of one address where one is given, is being read and will make room. */
  hasProgress(self: OpenBody, address: string | undefined): boolean {
    for (const entry of this.#open) {
      if (entry !== self && entry.wait === undefined && isOf(entry, address)) return true;
    }
    return false;
  }

  /** Returns the small body that has been arriving longest. */
  firstSmall(): OpenBody | undefined {
    let found: OpenBody | undefined;
    for (const entry of this.#open) {
      if (entry.isComplete || entry.bytes > smallBytes) continue;
      if (found === undefined || entry.serial < found.serial) found = entry;
    }
    return found;
  }

  #count({ bytes, body }: OpenBody, sign: 1 | -1): void {
    if (bytes <= smallBytes) {
      this.#small += sign * bytes;
      return;
    }
    this.#large += sign * bytes;
    const ofAddress = (this.#largeOf.get(body.address) ?? 0) + sign * bytes;
    if (ofAddress > 0) this.#largeOf.set(body.address, ofAddress);
    else this.#largeOf.delete(body.address);
  }

  #isSlow(entry: OpenBody): boolean {
    const nowMs = this.#clock.monotonicMs();
    const waitedMs = entry.waitedMs + (entry.wait ? nowMs - entry.wait.sinceMs : 0);
    return !entry.isComplete && nowMs - entry.openedMs - waitedMs > slowAfterMs;
  }
}

function isOf(entry: OpenBody, address: string | undefined): boolean {
  return entry.bytes > smallBytes && (address === undefined || entry.body.address === address);
}
