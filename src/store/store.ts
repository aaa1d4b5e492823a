import type { Pause, PauseScope } from '../engine/bounds/pauses.ts';
import type { Incident, IncidentKind, Occurrence } from '../engine/incidents/incident.ts';
import type { Run } from '../engine/record.ts';
import type { RuleTexts } from '../rules/sources/last-valid.ts';
import type { Pruned, PruneLimits } from './prune.ts';
import type { PersonsEdit, QueueRows } from './queue-rows.ts';
import type { SampleRows } from './samples.ts';
import type { SessionRows } from './session-rows.ts';
import type { HeaderRows } from './stored-headers.ts';

/** Trigger of work. Only `webhook` work has a forge's event as its body; all other work is a job of Reeve. */
export type Door = 'webhook' | 'cron' | 'cli';

/**
 * accepted: durable, waits for its turn · claimed: a worker has a lease · retry: waits outside its lane until `retryAt`
 * · deferred: handled, and waits until `retryAt` for what its reason says · settled: completed, with its runs · dead: given
 * up or malformed, with the reason, until it is redriven.
 */
export const deliveryStates = ['accepted', 'claimed', 'retry', 'deferred', 'settled', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Kind of the jobs that stand for events of the forge that were found by reading it instead of by a webhook. */
export const foundEventKind = 'caught-up';

/** What an event is about, for lists. Texts of the event, not verified with the forge. */
export type EventSummary = {
  /**
   * The payload's `action` (`opened`); absent if this kind of event has none. For an event that was found by reading the
   * forge, after its family (`issues opened`).
   */
  readonly activity?: string;
  /** Title of the issue or pull request, first line of the commit of a push, or the name of what the event is about. */
  readonly title?: string;
  /** Login of the sender. */
  readonly actor?: string;
  /**
   * For an event that was found by reading the forge, whose delivery has no repository: the issue or pull request
   * (`acme/demo#3`), or the repository.
   */
  readonly item?: string;
};

/** Lane of a delivery, its repository, if any, and what it is about. */
export type Route = {
  readonly lane: string;
  readonly repositoryId?: number;
  readonly repository?: string;
  readonly summary?: EventSummary;
};

/** A delivery from the receiver: verified, otherwise unchanged. */
export type NewDelivery = {
  /** UUID from the forge. */
  readonly uuid: string;
  readonly eventType: string;
  /** Name of the entry of secrets that verified the delivery. */
  readonly entry: string;
  readonly contentType: string;
  readonly receivedAt: Date;
  /** Headers of the request, as written by `encodeHeaders`; absent: none are kept. */
  readonly headers?: string;
  /** The signed JSON bytes. For a form, the value of `payload`. */
  readonly body: Uint8Array;
  /** Set if the body was parsed before the response. */
  readonly route?: Route;
};

/** A job of Reeve: a sweep's slot, a replay, a catch-up. `uuid` is its identity: a job is stored once per uuid. */
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

/** A new delivery, whose body is valid only during the announcement, or a job. */
export type CommittedWork = { readonly id: string; readonly delivery?: NewDelivery };

/**
 * Result of `accept`. `known`: a delivery with this uuid was already stored, so nothing was added. `copyOf`: the
 * delivery is stored, but will not run.
 */
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
  /**
   * Attempts started, including the current one. Attempts that a crash ended while several deliveries were in flight do
   * not count.
   */
  readonly attempts: number;
  /** Number of crashes while the process handled only this delivery. */
  readonly crashes: number;
  /** Time of the first failed attempt that counts. */
  readonly failingSince: Date | undefined;
  readonly retryAt: Date | undefined;
  readonly settledAt: Date | undefined;
  /** Reason why the delivery is dead, waits for a retry, or was settled without a run. */
  readonly reason: string | undefined;
  readonly copyOf: string | undefined;
  /** An earlier delivery with the same body and another uuid that was or will be handled. */
  readonly repeatOf: string | undefined;
  /** Checkpoint of an interrupted job. */
  readonly checkpoint: unknown;
  readonly redrivenAt: Date | undefined;
  readonly redrivenBy: string | undefined;
  /** Absent for jobs, malformed deliveries and those stored by earlier versions. */
  readonly summary: EventSummary | undefined;
};

/** Returns whether a delivery is an event of the forge, announced by a webhook or found by reading, and not a job. */
export function isForgeEvent({ door, eventType }: Pick<Delivery, 'door' | 'eventType'>): boolean {
  return door === 'webhook' || eventType === foundEventKind;
}

/** Returns what a delivery is about: an issue or pull request (`acme/demo#3`) or a repository; undefined if unknown. */
export function itemOfDelivery({
  repository,
  lane = '',
  summary,
}: Pick<Delivery, 'repository' | 'lane' | 'summary'>): string | undefined {
  if (repository === undefined) return summary?.item;
  const number = /#(\d{1,15})$/.exec(lane)?.[1];
  return number === undefined ? repository : `${repository}#${number}`;
}

export type DeliveryWithBody = Delivery & { readonly body: Uint8Array };

/** A claimed delivery. `lease` is the fencing token, which every later call about the delivery requires. */
export type Claim = DeliveryWithBody & {
  readonly lease: string;
  /**
   * Resolves when the delivery is durable; rejects if it could not be synced. Absent if the delivery is already
   * durable.
   */
  readonly durable?: Promise<unknown>;
};

/**
 * Result of routing: a lane, or dead because the delivery is malformed, or settled because no rule matches its event
 * type.
 */
export type Routing =
  | ({
      readonly id: string;
      readonly to: 'lane';
      /** Digest of the body (`digestOfBody`); absent for jobs. */
      readonly digest?: Uint8Array;
    } & Route)
  | { readonly id: string; readonly to: 'dead'; readonly reason: string }
  | ({ readonly id: string; readonly to: 'settled'; readonly reason: string } & Partial<Route>);

/** A page of a list, newest first. `next` is the `before` of the next call; absent at the end. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | undefined };

export type DeliveryQuery = {
  /** Webhooks; events of the forge, which are webhooks and events that were found by reading it; or jobs of Reeve. */
  readonly door?: 'webhook' | 'event' | 'job';
  readonly state?: DeliveryState;
  /** Part of the Event-Type, the repository's full name or the uuid; case-insensitive. */
  readonly search?: string;
  readonly repositoryId?: number;
  /** Leaves out events that Reeve itself caused and for which no rule ran. */
  readonly withoutOwn?: boolean;
  readonly before?: string;
  /** Returns the deliveries after this id instead, oldest first. Not with `before`. */
  readonly after?: string;
  /** At most 500; default 50. */
  readonly limit?: number;
};

export type RunQuery = {
  readonly delivery?: string;
  readonly repositoryId?: number;
  /**
   * Runs that name an item (`acme/shop#7`) in their text, such as in their trigger, and runs of the deliveries in a lane.
   * Such a search examines a limited number of runs per call, so a page may be short and still have a `next`.
   */
  readonly item?: { readonly name: string; readonly lane: string };
  /** Runs that started at this instant or later. */
  readonly since?: Date;
  readonly before?: string;
  /** At most 500; default 50. */
  readonly limit?: number;
};

/** Manual actions that the audit records. */
export type AuditAction = 'redrive' | 'revert' | 'sweep' | PersonsEdit['action'];

/** A recorded manual action. */
export type AuditEntry = {
  readonly number: number;
  readonly at: Date;
  /** `ada by the dashboard`, `root by reeve pause`. */
  readonly by: string;
  readonly action: AuditAction;
  /** Object of the action: `delivery 42`, `repository acme/shop`. */
  readonly object: string;
};

/** A new entry; the store adds its number and the time. */
export type NewAuditEntry = Omit<AuditEntry, 'number' | 'at'>;

export type Health = {
  readonly ok: boolean;
  /** Reason, for the log. */
  readonly reason?: string;
  /** Free bytes on the store's disk; undefined without a disk. */
  readonly freeBytes: number | undefined;
};

/**
 * `avoid`: lanes to leave out; `only`: the only lanes to consider; `routings`: routed first, in the same transaction;
 * only for a store with `onCommitted`.
 */
export type ClaimOptions = {
  readonly limit: number;
  readonly leaseMs: number;
  readonly avoid?: readonly string[];
  readonly only?: readonly string[];
  readonly routings?: readonly Routing[];
};

/** Runs of a part of a job, and the checkpoint at which the job continues. */
export type JobPart = {
  readonly runs: readonly Run[];
  readonly repositoryId?: number;
  readonly checkpoint: unknown;
};

export type RetryOptions = { readonly afterMs: number; readonly reason: string };

export type DeferOptions = {
  readonly afterMs: number;
  readonly why: string;
  readonly key?: string;
  readonly isPaused?: true;
};

/** The part of the store that accepts deliveries and jobs. */
export interface DeliveryIntake {
  /**
   * Stores a delivery and resolves when its bytes are on the disk. A delivery with the same uuid from the same entry is
   * `known` and adds nothing. A delivery with the same body and Event-Type within 60 s is stored as a settled copy of
   * the first one, unless the first one has been claimed. A store opened as `reader` refuses this call.
   */
  accept(delivery: NewDelivery): Promise<Accepted>;
  /** Stores a job, unless its uuid is known. Any role may call it, because a worker in another process runs the job. */
  enqueue(job: NewJob): Promise<Accepted>;
  /**
   * Calls the listener with the work of each transaction that is committed but not yet durable, before `accept` and
   * `enqueue` resolve. Absent if the store cannot announce work.
   */
  onCommitted?(listener: (work: readonly CommittedWork[]) => void): void;
}

/** The part of the store that assigns lanes to deliveries and claims deliveries. */
export interface DeliveryClaims {
  /** Returns accepted deliveries without a lane, in order of acceptance. */
  unrouted(limit: number): Promise<readonly DeliveryWithBody[]>;
  /**
   * Assigns deliveries to their lanes, or ends them. Must be called in the order of `unrouted`; other deliveries are
   * ignored. A delivery with the digest of an earlier one gets `repeatOf`, as long as the earlier one is still stored.
   */
  route(routings: readonly Routing[]): Promise<void>;
  /**
   * Claims up to `limit` deliveries, round-robin over repositories, then over the lanes of each. From a lane, only the
   * oldest delivery is claimed, and only one at a time; lanes in `avoid` are skipped, and with `only`, no other lanes
   * are considered. A lease without a heartbeat for `leaseMs` ends, and its delivery returns to its lane. Deliveries
   * that were in flight during a crash are claimed alone at first, so that the delivery that crashes the process is
   * found.
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>;
  /** Extends the lease from now. Throws `lease-lost`. */
  heartbeat(claim: Claim, leaseMs: number): Promise<void>;
}

/** The part of the store that ends attempts. Each call is fenced by the lease of the claim. */
export interface AttemptEndings {
  /**
   * Appends the runs, settles the delivery, and counts failed rules of the runs as incidents, in one transaction.
   * Throws `lease-lost` without any effect.
   */
  settle(claim: Claim, runs: readonly Run[], reason?: string): Promise<void>;
  /**
   * Appends the runs of a part of a job, as `settle` does, and stores its checkpoint, in one transaction. Throws
   * `lease-lost`.
   */
  advance(claim: Claim, part: JobPart): Promise<void>;
  /**
   * Ends the attempt; the delivery leaves its lane for `afterMs`. A clock that is set back meanwhile does not extend
   * this delay. Throws `lease-lost`.
   */
  retry(claim: Claim, options: RetryOptions): Promise<void>;
  /**
   * Appends the runs and defers the delivery for `afterMs`, in one transaction. Afterwards, the delivery is claimed as
   * if for the first time; a job loses its checkpoint. Another deferred delivery of the same lane with the same `key`
   * is settled, because this one replaces it. Throws `lease-lost`.
   */
  defer(claim: Claim, runs: readonly Run[], wait: DeferOptions): Promise<void>;
  /**
   * Returns the delivery to its place in the lane; the attempt does not count. `isUnbegun`: it was not handled, so it stays
   * suspected of a crash. Throws `lease-lost`.
   */
  release(claim: Claim, options?: { readonly isUnbegun?: boolean | undefined }): Promise<void>;
  /** Appends the runs and ends the delivery as dead, in one transaction. Throws `lease-lost`. */
  bury(claim: Claim, reason: string, runs?: readonly Run[]): Promise<void>;
}

/** The part of the store that changes unclaimed deliveries and appends runs without a delivery. */
export interface DeliveryHistory {
  /** Settles a deferred delivery. A delivery in any other state is unchanged. */
  endDeferral(id: string, reason: string): Promise<void>;
  /** Appends runs without a delivery. A run with a known id replaces the stored one. */
  appendRuns(runs: readonly Run[], options?: { readonly repositoryId?: number }): Promise<void>;
  /**
   * Returns dead deliveries and jobs to the queue with all of their attempts available again; with `settled`, also
   * deferred ones, and settled webhook deliveries, which keep their runs and get another one. Returns the number of redriven deliveries.
   */
  redrive(ids: readonly string[], by: string, options?: { readonly settled?: boolean }): Promise<number>;
}

/** The read-only methods of a store for deliveries and runs. */
export interface StoreQueries extends HeaderRows {
  /**
   * Lists deliveries, newest first; with `after`, oldest first, and `next` is the `after` of the next call. A search examines a limited number of rows per call, so a page may be short and
   * still have a `next`.
   */
  listDeliveries(query?: DeliveryQuery): Promise<Page<Delivery>>;
  readDelivery(id: string): Promise<DeliveryWithBody | undefined>;
  /** Reads a delivery without its body, which may be large. */
  describeDelivery(id: string): Promise<Delivery | undefined>;
  /** Lists runs, newest first. */
  listRuns(query?: RunQuery): Promise<Page<Run>>;
  readRun(id: string): Promise<Run | undefined>;
  /** Returns the newest run of each delivery that has one, by the id of the delivery. At most 500 ids. */
  readLatestRuns(deliveries: readonly string[]): Promise<ReadonlyMap<string, Run>>;
  counts(): Promise<Readonly<Record<DeliveryState, number>>>;
  /** Returns the arrival time of the oldest delivery that waits for an attempt. */
  oldestWaiting(): Promise<Date | undefined>;
}

/** The part of the store that keeps plain data under keys. */
export interface MemoryRows {
  /** Stores plain data under a key; undefined deletes it. */
  remember(key: string, value: unknown): Promise<void>;
  recall(key: string): Promise<unknown>;
  /**
   * Replaces plain data atomically across processes. `edit` gets the current value (undefined: none) and returns the
   * new one (undefined: delete it; the same value: no change). It may be called several times. Returns the final value.
   */
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
}

/** The part of the store that keeps pauses. */
export interface PauseRows {
  /**
   * Pauses writes, starting with the next request of any process. Returns false if they were already paused. Any role.
   * Like other manual actions, the pause is recorded in the audit.
   */
  pause(scope: PauseScope, by: string): Promise<boolean>;
  /**
   * Ends a pause; the deliveries that it deferred run again now. Returns false if there was no such pause. Any role.
   */
  resume(scope: PauseScope, by: string): Promise<boolean>;
  /** Returns the pauses in force, oldest first. */
  listPauses(): Promise<readonly Pause[]>;
}

/** The part of the store that records manual actions. */
export interface AuditRows {
  /** Records a manual action. `pause`, `resume` and `redrive` record their own. Any role. */
  noteAudit(entry: NewAuditEntry): Promise<void>;
  /** Lists manual actions, newest first. The newest 10,000 entries are kept. */
  listAudit(query?: { readonly before?: number; readonly limit?: number }): Promise<readonly AuditEntry[]>;
}

/** The part of the store that keeps incidents. */
export interface IncidentRows {
  /** Counts occurrences as incidents, at most 1,000 of each kind. Any role. */
  raise(occurrences: readonly Occurrence[]): Promise<void>;
  /**
   * Ends incidents of a kind; with `before`, only those that have not occurred since then. Returns the number of ended
   * incidents. Any role.
   */
  clear(kind: IncidentKind, keys: readonly string[], options?: { readonly before?: Date }): Promise<number>;
  /** Returns the open incidents, of these kinds if any are given, most recent first. */
  listIncidents(kinds?: readonly IncidentKind[]): Promise<readonly Incident[]>;
}

/**
 * Persistent data. Each call is one transaction, and its promise resolves after the effect is durable. While the disk
 * refuses writes, calls reject with `store-unwritable`, and the same call succeeds once the disk accepts writes again.
 * If files of the store were deleted, calls reject with `store-lost`.
 */
export interface Store
  extends DeliveryIntake,
    DeliveryClaims,
    AttemptEndings,
    DeliveryHistory,
    StoreQueries,
    MemoryRows,
    PauseRows,
    AuditRows,
    IncidentRows,
    RuleTexts,
    QueueRows,
    SampleRows,
    SharedStore {
  /**
   * Deletes ended deliveries with their runs, and runs without a delivery: first those beyond their retention, then,
   * until at most `maxBytes` are in use, the oldest settled deliveries, runs, and dead deliveries. Deletes in limited
   * batches. Waiting deliveries and the newest delivery are never deleted.
   */
  prune(limits: PruneLimits): Promise<Pruned>;
  /**
   * Tests a write of the size of the largest recently refused write, and checks the free space. The store is not
   * healthy below 200 MB or 5 % of the disk, whichever is less.
   */
  healthy(): Promise<Health>;
  /** Finishes pending writes and releases the lock. */
  close(): Promise<void>;
}

/**
 * Role of a process in an installation: `web` accepts deliveries and shows the dashboard, `worker` handles deliveries
 * and schedules, `all` does both.
 */
export const serverRoles = ['all', 'web', 'worker'] as const;
export type ServerRole = (typeof serverRoles)[number];

/** A process that uses the store. */
export type StoreProcess = {
  readonly id: string;
  /** Host and process id. */
  readonly name: string;
  readonly role: ServerRole;
  /** Version of Reeve. */
  readonly version: string;
  readonly startedAt: Date;
  /** Time of the last heartbeat of the process. */
  readonly seenAt: Date;
  /** Whether the process is the leader, which enqueues due schedules. */
  readonly isLeader: boolean;
  readonly isSelf: boolean;
};

/**
 * A change of data that other processes may have cached. `rules`: rule files, `key` is the repository as JSON;
 * `repository`: everything about a repository, `key` is its id; `facts`: cached facts, `key` is the prefix of their
 * names; `everything`: notices may have been missed.
 */
export type Notice = {
  readonly topic: 'rules' | 'repository' | 'facts' | 'everything';
  readonly key: string;
};

/** Callbacks about other processes that share the store. */
export type StoreListeners = {
  /** Called when another process has stored work. */
  readonly onWork?: () => void;
  /** Called when another process has changed data that this one may have cached. */
  readonly onNotice?: (notice: Notice) => void;
  /** Called with the number of deliveries that this process took over from processes that died. */
  readonly onTakeover?: (count: number) => void;
};

/** The part of the store through which processes that share it cooperate. A file has a single process. */
export interface SharedStore {
  /** Whether other processes may use the store. If so, shared state is kept in the store, not in memory or files. */
  readonly isShared: boolean;
  /** Sessions of the dashboard. */
  readonly sessions: SessionRows;
  /**
   * Notifies the other processes of a change. Notices may be lost with a connection; the processes then get
   * `everything`.
   */
  announce(notice: Notice): void;
  /** Returns whether this process is the leader, which enqueues due schedules. */
  isLeader(): boolean;
  /** Returns the live processes, oldest first. */
  listProcesses(): Promise<readonly StoreProcess[]>;
}
