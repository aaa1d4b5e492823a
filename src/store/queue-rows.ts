/** Key of a queue: one base branch. The repository is identified by its id, which survives a rename. */
export type QueueKey = { readonly repositoryId: number; readonly base: string };

/**
 * A stored merge queue. `state` is plain data that only `work/merge-queue/` reads and writes; only the retention also
 * reads it, to find a queue with nothing in `entries` and `outbox` and without `paused` and `blocked`.
 */
export type QueueRow = QueueKey & {
  /** Full name of the repository at the last save, for display. */
  readonly repository: string;
  readonly state: unknown;
  /** Incremented with each save. */
  readonly revision: number;
  readonly updatedAt: Date;
};

/** Kinds of queue events. `foreign-write`: another account wrote to the base between the last check and our merge. */
export type QueueEventKind =
  | 'entered'
  | 'first'
  | 'updated'
  | 'merged'
  | 'left'
  | 'foreign-write'
  | 'moved'
  | 'paused'
  | 'resumed';

/** One event of a queue. */
export type QueueEvent = {
  readonly at: Date;
  readonly kind: QueueEventKind;
  /** The pull request; absent if the event concerns the whole queue. */
  readonly number?: number | undefined;
  /** One word of `left` for metrics (`checks`, `conflict`), absent otherwise. */
  readonly reason?: string | undefined;
  /** One sentence for display. */
  readonly text: string;
  readonly head?: string | undefined;
  /** Commit of the base that the head was tested with. */
  readonly base?: string | undefined;
  /** For `merged` and `left`: time of the entry, and of its turn. */
  readonly enteredAt?: Date | undefined;
  readonly turnAt?: Date | undefined;
  /** For `updated` and `merged`: id of the run that records the request. */
  readonly run?: string | undefined;
  /** For acts of a person: `ada by the dashboard`. */
  readonly by?: string | undefined;
};

/** A listed event of a queue, with an increasing number. `base` is the branch; `baseCommit` is that of the event. */
export type QueueHistoryRow = QueueKey &
  Omit<QueueEvent, 'base'> & {
    readonly id: number;
    readonly repository: string;
    readonly baseCommit?: string | undefined;
  };

/** Lease of a queue: one process at a time works on it. `token` is never reused. */
export type QueueLease = QueueKey & { readonly token: string };

/** Change of a queue by a person, as recorded in the audit. */
export type PersonsEdit = {
  readonly action: 'move' | 'remove' | 'pause' | 'resume';
  /** `ada by the dashboard`. */
  readonly by: string;
  /** `acme/shop#12 in the queue of main`. */
  readonly object: string;
};

/** A new state of a queue. */
export type QueueSave = QueueKey & {
  readonly repository: string;
  readonly state: unknown;
  /** The revision that the state was made from; 0: there is no row yet. */
  readonly revision: number;
  /** Lease of the process that works on the queue: refused once it has ended. Absent: an edit without a lease. */
  readonly lease?: QueueLease | undefined;
  /** Appended to the history in the same transaction. */
  readonly events?: readonly QueueEvent[] | undefined;
  /** Set if a person made the change: recorded in the audit in the same transaction. */
  readonly audit?: PersonsEdit | undefined;
};

/** The rows of merge queues. Each call is one transaction; any role may call them. */
export interface QueueRows {
  readQueue(key: QueueKey): Promise<QueueRow | undefined>;
  /** Lists the queues of a repository, or all, by repository and branch. */
  listQueues(query?: { readonly repositoryId?: number | undefined }): Promise<readonly QueueRow[]>;
  /**
   * Saves a state if the stored revision equals the given one, and appends the events. Returns false if another save
   * came first: read again. Throws `lease-lost` if the given lease has ended or was taken by another process.
   */
  saveQueue(save: QueueSave): Promise<boolean>;
  /**
   * Takes the lease of a queue for `leaseMs`, whether or not there is a row; undefined while another process holds it.
   * A clock that is set back does not extend a lease beyond `leaseMs` from now.
   */
  claimQueue(key: QueueKey, leaseMs: number): Promise<QueueLease | undefined>;
  /** Extends the lease from now. Returns false if it has ended. */
  extendQueue(lease: QueueLease, leaseMs: number): Promise<boolean>;
  /** Ends the lease; no effect if it has already ended. */
  releaseQueue(lease: QueueLease): Promise<void>;
  /** Lists events, newest first: of one queue, one repository, or all. `before`: an id. At most 500; default 50. */
  listQueueHistory(query?: {
    readonly repositoryId?: number | undefined;
    readonly base?: string | undefined;
    readonly before?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly QueueHistoryRow[]>;
}
