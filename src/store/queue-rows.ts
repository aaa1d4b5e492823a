/**
 * Key of a queue, which belongs to one base branch. The repository is identified by its id, which survives a rename.
 */
export type QueueKey = { readonly repositoryId: number; readonly base: string };

/**
 * A stored merge queue. `state` is plain data that only `work/merge-queue/` reads and writes, except that the retention
 * also reads it, to find a queue with empty `entries` and `outbox` and without `paused` and `blocked`.
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
  /** Number of the pull request; absent if the event concerns the whole queue. */
  readonly number?: number | undefined;
  /** For `left`: one word for metrics (`checks`, `conflict`); absent otherwise. */
  readonly reason?: string | undefined;
  /** One sentence for display. */
  readonly text: string;
  readonly head?: string | undefined;
  /** Commit of the base with which the head was tested. */
  readonly base?: string | undefined;
  /** For `merged` and `left`: when the pull request entered, and when its turn came. */
  readonly enteredAt?: Date | undefined;
  readonly turnAt?: Date | undefined;
  /** For `updated` and `merged`: id of the run that records the request. */
  readonly run?: string | undefined;
  /** For user actions: `ada by the dashboard`. */
  readonly by?: string | undefined;
};

/**
 * An event in the history of a queue, with an increasing number. `base` is the branch; `baseCommit` is the `base` of
 * the event.
 */
export type QueueHistoryRow = QueueKey &
  Omit<QueueEvent, 'base'> & {
    readonly id: number;
    readonly repository: string;
    readonly baseCommit?: string | undefined;
  };

/** Lease of a queue, on which one process works at a time. `token` is never reused. */
export type QueueLease = QueueKey & { readonly token: string };

/** Manual change of a queue, as recorded in the audit. */
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
  /** The revision from which the state was made; 0: there is no row yet. */
  readonly revision: number;
  /**
   * Lease of the process that works on the queue. The save is refused once the lease has ended. Absent: an edit without
   * a lease.
   */
  readonly lease?: QueueLease | undefined;
  /** Events that are appended to the history in the same transaction. */
  readonly events?: readonly QueueEvent[] | undefined;
  /** Set for a manual change, which is recorded in the audit in the same transaction. */
  readonly audit?: PersonsEdit | undefined;
};

/** Rows of merge queues. Each call is one transaction; any role may call them. */
export interface QueueRows {
  readQueue(key: QueueKey): Promise<QueueRow | undefined>;
  /** Lists the queues of a repository, or all queues, sorted by repository and branch. */
  listQueues(query?: { readonly repositoryId?: number | undefined }): Promise<readonly QueueRow[]>;
  /**
   * Saves a state if the stored revision equals the given one, and appends the events. Returns false if another save
   * came first; the caller must then read again. Throws `lease-lost` if the given lease has ended or was taken by
   * another process.
   */
  saveQueue(save: QueueSave): Promise<boolean>;
  /**
   * Takes the lease of a queue for `leaseMs`, whether or not the queue has a row. Returns undefined while another
   * process holds the lease. A clock that is set back does not extend a lease beyond `leaseMs` from now.
   */
  claimQueue(key: QueueKey, leaseMs: number): Promise<QueueLease | undefined>;
  /** Extends the lease from now. Returns false if it has ended. */
  extendQueue(lease: QueueLease, leaseMs: number): Promise<boolean>;
  /** Ends the lease. Has no effect if the lease has already ended. */
  releaseQueue(lease: QueueLease): Promise<void>;
  /**
   * Lists events of one queue, of one repository, or of all, newest first. `before` is an id. `limit` is at most 500;
   * default 50.
   */
  listQueueHistory(query?: {
    readonly repositoryId?: number | undefined;
    readonly base?: string | undefined;
    readonly before?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly QueueHistoryRow[]>;
}
