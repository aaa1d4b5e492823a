import type { Run } from '../engine/record.ts';
import type { Incident, IncidentKind, Occurrence } from '../incidents/incident.ts';

/** Where work came in. Only `webhook` work has a forge's event as its body; the rest are jobs of our own. */
export type Door = 'webhook' | 'cron' | 'cli';

/**
 * accepted: durable, waits for its turn · claimed: a worker has it under a lease · retry: waits outside its lane until
 * `retryAt` · deferred: handled, and waits until `retryAt` for room in an hourly budget · settled: done, with its runs · dead: given up or malformed, with the reason, until somebody redrives it.
 */
export const deliveryStates = ['accepted', 'claimed', 'retry', 'deferred', 'settled', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The lane that keeps a delivery's order, and the repository it is about where there is one. */
export type Route = { readonly lane: string; readonly repositoryId?: number; readonly repository?: string };

/** A delivery as the receiver hands it over: verified, otherwise as it came. */
export type NewDelivery = {
  /** UUID the forge gave it. */
  readonly uuid: string;
  readonly eventType: string;
  /** Name of the entry of secrets that vouched. */
  readonly entry: string;
  readonly contentType: string;
  readonly receivedAt: Date;
  /** The JSON bytes: what was signed. For a form, the value of `payload`. */
  readonly body: Uint8Array;
  /** Known where the body was parsed before the answer. */
  readonly route?: Route;
};

/** A job of our own: a sweep's slot, a replay, a catch-up. `uuid` is its identity: the same one is never stored twice. */
export type NewJob = {
  readonly door: Exclude<Door, 'webhook'>;
  readonly uuid: string;
  /** Kind of the job; the worker's handler branches on it. */
  readonly kind: string;
  readonly lane: string;
  readonly receivedAt: Date;
  /** Plain data, kept as JSON. */
  readonly payload: unknown;
};

/** What became of an accept. `known`: this uuid is stored already, nothing was added. `copyOf`: stored, will not run. */
export type Accepted = { readonly id: string; readonly known: boolean; readonly copyOf?: string };

/** A stored delivery without its body. */
export type Delivery = {
  /** Our own id: decimal digits that grow in order of acceptance. */
  readonly id: string;
  readonly door: Door;
  readonly uuid: string;
  /** The forge's Event-Type; for a job its kind. */
  readonly eventType: string;
  readonly entry: string;
  readonly contentType: string;
  readonly receivedAt: Date;
  readonly state: DeliveryState;
  /** Size of the body in bytes. */
  readonly bytes: number;
  readonly lane: string | undefined;
  readonly repositoryId: number | undefined;
  readonly repository: string | undefined;
  /** Attempts begun, among them the one under way. Those that ended with the process do not count. */
  readonly attempts: number;
  /** How often the process died while it handled this delivery and no other. */
  readonly crashes: number;
  /** When the first attempt that counts failed. */
  readonly failingSince: Date | undefined;
  readonly retryAt: Date | undefined;
  readonly settledAt: Date | undefined;
  /** Why it is dead, waits for a retry, or was settled without a run. */
  readonly reason: string | undefined;
  readonly copyOf: string | undefined;
  /** An earlier delivery with the same body, under another id of the forge, that was handled or will be. */
  readonly repeatOf: string | undefined;
  /** Where a job that was interrupted goes on. */
  readonly checkpoint: unknown;
  readonly redrivenAt: Date | undefined;
  readonly redrivenBy: string | undefined;
};

export type DeliveryWithBody = Delivery & { readonly body: Uint8Array };

/** A delivery under a lease. `lease` is the fencing token: every later word about the delivery must carry it. */
export type Claim = DeliveryWithBody & { readonly lease: string };

/** What the routing step found: the lane, or that it is malformed, or that nobody listens to its kind. */
export type Routing =
  | ({
      readonly id: string;
      readonly to: 'lane';
      /** Of the body (`digestOfBody`); absent for jobs. */
      readonly digest?: Uint8Array;
    } & Route)
  | { readonly id: string; readonly to: 'dead'; readonly reason: string }
  | ({ readonly id: string; readonly to: 'settled'; readonly reason: string } & Partial<Route>);

/** A page of a listing, newest first. `next` goes into `before` of the next call; without it there is no more. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | undefined };

export type DeliveryQuery = {
  readonly state?: DeliveryState;
  /** Part of the Event-Type, the repository's full name or the uuid; case does not matter. */
  readonly search?: string;
  readonly repositoryId?: number;
  readonly before?: string;
  /** At most 500; default 50. */
  readonly limit?: number;
};

export type RunQuery = {
  readonly delivery?: string;
  readonly repositoryId?: number;
  /** Runs that started at this instant or later. */
  readonly since?: Date;
  readonly before?: string;
  /** At most 500; default 50. */
  readonly limit?: number;
};

export type Health = {
  readonly ok: boolean;
  /** Why not, for the log. */
  readonly reason?: string;
  /** Free bytes on the store's disk; undefined where there is no disk. */
  readonly freeBytes: number | undefined;
};

export type PruneLimits = {
  /** Deletes deliveries that were settled before this, and runs without a delivery that started before it. */
  readonly olderThan?: Date;
  /** Deletes deliveries that died before this. */
  readonly deadOlderThan?: Date;
  readonly maxBytes?: number;
};

/** What was deleted; `deliveries` includes the dead ones. */
export type Pruned = { readonly deliveries: number; readonly dead: number; readonly runs: number };

/**
 * What survives a restart. Every promise resolves after its effect is durable; a disk that refuses is
 * `store-unwritable`, and the same call works again once the disk does; files that were removed are `store-lost`. Each call is one transaction: it happens whole
 * or not at all.
 */
export interface Store {
  /**
   * Stores a delivery and resolves when its bytes are on the disk. The same uuid from the same entry is `known` and adds
   * nothing. The same body and Event-Type within 60 s, while the first is not yet claimed, is stored settled as its
   * copy. Repeats are recognised among the newest 65,536 deliveries at least, also after a restart. Role worker only.
   */
  accept(delivery: NewDelivery): Promise<Accepted>;
  /** Stores a job, unless its uuid is known. Any role: a worker in another process takes it. */
  enqueue(job: NewJob): Promise<Accepted>;

  /** Returns accepted deliveries that have not been given to a lane, in order of acceptance. */
  unrouted(limit: number): Promise<readonly DeliveryWithBody[]>;
  /**
   * Gives deliveries to their lanes, or ends them. Must be called in the order of `unrouted`; others are ignored. One whose
   * digest is that of an earlier delivery becomes its `repeatOf`, for as long as that one is kept.
   */
  route(routings: readonly Routing[]): Promise<void>;
  /**
   * Claims up to `limit` deliveries, taking turns between repositories, then between their lanes; the oldest of a lane
   * first, one of a lane at a time, none of the lanes to `avoid`, with `only` none but of these. A lease that no heartbeat has extended for `leaseMs` ends
   * and its delivery returns. What was being handled when the process died is claimed alone at first, so that one which
   * takes the process down is found.
   */
  claim(options: {
    readonly limit: number;
    readonly leaseMs: number;
    readonly avoid?: readonly string[];
    readonly only?: readonly string[];
  }): Promise<readonly Claim[]>;
  /** Extends the lease, counted from now. Throws `lease-lost`. */
  heartbeat(claim: Claim, leaseMs: number): Promise<void>;
  /**
   * Appends the runs and settles the delivery, together, and counts the rules that failed in the runs as incidents. Throws
   * `lease-lost`, and then nothing of it happened.
   */
  settle(claim: Claim, runs: readonly Run[], reason?: string): Promise<void>;
  /** Appends runs of a job's part, as `settle` does, and remembers where to go on, together. Throws `lease-lost`. */
  advance(
    claim: Claim,
    part: { runs: readonly Run[]; repositoryId?: number; checkpoint: unknown },
  ): Promise<void>;
  /**
   * Ends the attempt; the delivery leaves its lane for `afterMs`. A clock that is set back meanwhile makes that no longer
   * than it was at the beginning. Throws `lease-lost`.
   */
  retry(claim: Claim, options: { readonly afterMs: number; readonly reason: string }): Promise<void>;
  /**
   * Appends the runs and lets the delivery wait for `afterMs`, together; it is then claimed as if for the first time, a job
   * without its checkpoint. Another deferred delivery of its lane with the same `key` is settled: this one does what that
   * one would do. Throws `lease-lost`.
   */
  defer(
    claim: Claim,
    runs: readonly Run[],
    wait: { readonly afterMs: number; readonly why: string; readonly key?: string },
  ): Promise<void>;
  /** Settles a delivery that is deferred; any other is left alone. */
  endDeferral(id: string, reason: string): Promise<void>;
  /** Gives the delivery back to its place in the lane as if it had not been claimed: no attempt is spent. Throws `lease-lost`. */
  release(claim: Claim): Promise<void>;
  /** Appends the runs and ends the delivery as dead, together. Throws `lease-lost`. */
  bury(claim: Claim, reason: string, runs?: readonly Run[]): Promise<void>;

  /** Appends runs that no delivery asked for. A run whose id is known replaces it. */
  appendRuns(runs: readonly Run[], options?: { readonly repositoryId?: number }): Promise<void>;

  /** Lists newest first. A search looks through a bounded stretch a call: a page may be short and still have a `next`. */
  listDeliveries(query?: DeliveryQuery): Promise<Page<Delivery>>;
  readDelivery(id: string): Promise<DeliveryWithBody | undefined>;
  /** Reads a delivery without its body, which may be large. */
  describeDelivery(id: string): Promise<Delivery | undefined>;
  /** Lists newest first. */
  listRuns(query?: RunQuery): Promise<Page<Run>>;
  readRun(id: string): Promise<Run | undefined>;
  /**
   * Gives dead deliveries and jobs another life with all attempts; with `settled`, deliveries of a webhook that are done,
   * too: their runs stay, and another one comes. Returns how many of the ids there were to redrive.
   */
  redrive(ids: readonly string[], by: string, options?: { readonly settled?: boolean }): Promise<number>;
  counts(): Promise<Readonly<Record<DeliveryState, number>>>;
  /** Returns when the oldest delivery that waits for its first or next attempt was received. */
  oldestWaiting(): Promise<Date | undefined>;

  /** Keeps plain data under a key; undefined forgets it. */
  remember(key: string, value: unknown): Promise<void>;
  recall(key: string): Promise<unknown>;

  /** Counts occurrences as incidents, at most 1,000 of each kind. Any role. */
  raise(occurrences: readonly Occurrence[]): Promise<void>;
  /** Ends incidents of a kind, with `before` only those not seen since. Returns how many. Any role. */
  clear(kind: IncidentKind, keys: readonly string[], options?: { readonly before?: Date }): Promise<number>;
  /** Returns the incidents that are not over, seen last first. */
  listIncidents(): Promise<readonly Incident[]>;

  /**
   * Deletes ended deliveries with their runs, and runs without a delivery: those beyond their age, then, until no more than
   * `maxBytes` are in use, the oldest settled deliveries, runs, and dead deliveries. In bounded batches; what waits is never
   * deleted, and neither is the newest delivery.
   */
  prune(limits: PruneLimits): Promise<Pruned>;
  /**
   * Writes, as much as the largest write that the disk has refused lately, and looks at the free space: not ok below 200 MB
   * or 5 % of the disk, whichever is less.
   */
  healthy(): Promise<Health>;
  /** Finishes what was begun and gives the lock back. */
  close(): Promise<void>;
}
