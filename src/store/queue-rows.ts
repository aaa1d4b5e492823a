/** The queue of one base branch. The repository is named by its id, which survives a rename. */
export type QueueKey = { readonly repositoryId: number; readonly base: string };

/**
 * A merge queue as the store keeps it. `state` is plain data that only `work/merge-queue/` reads and writes; the retention alone looks into it,
 * for a queue with nothing in `entries` and `outbox` and without `paused` and `blocked`.
 */
export type QueueRow = QueueKey & {
  /** Full name of the repository when it was saved last, for people. */
  readonly repository: string;
  readonly state: unknown;
  /** Grows by one with each save. */
  readonly revision: number;
  readonly updatedAt: Date;
};

/** Kinds of queue events. `foreign-write`: someone wrote to the base between the last check and our merge. */
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

/** One thing that happened in a queue. */
export type QueueEvent = {
  readonly at: Date;
  readonly kind: QueueEventKind;
  /** The pull request; absent where it concerns the whole queue. */
  readonly number?: number | undefined;
  /** One word of `left` for metrics (`checks`, `conflict`), absent otherwise. */
  readonly reason?: string | undefined;
  /** One sentence for people. */
  readonly text: string;
  readonly head?: string | undefined;
  /** Commit of the base that the head was tested with. */
  readonly base?: string | undefined;
  /** Of `merged` and `left`: when it entered, and when its turn came. */
  readonly enteredAt?: Date | undefined;
  readonly turnAt?: Date | undefined;
  /** Of `updated` and `merged`: id of the run that records the request. */
  readonly run?: string | undefined;
  /** Of what a person did: `ada by the dashboard`. */
  readonly by?: string | undefined;
};

/** An event of a queue as it is listed: numbers grow. `base` is the branch; `baseCommit` is that of the event. */
export type QueueHistoryRow = QueueKey &
  Omit<QueueEvent, 'base'> & {
    readonly id: number;
    readonly repository: string;
    readonly baseCommit?: string | undefined;
  };

/** The right to work on a queue: one process at a time. `token` is never given twice. */
export type QueueLease = QueueKey & { readonly token: string };

/** Change of a queue by a person, as the audit records it. */
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
  /** Of the process that works on the queue: refused once the lease has ended. Absent: an edit by anyone. */
  readonly lease?: QueueLease | undefined;
  /** Appended to the history in the same transaction. */
  readonly events?: readonly QueueEvent[] | undefined;
  /** Set if a person did it: recorded in the audit in the same transaction. */
  readonly audit?: PersonsEdit | undefined;
};

/** The rows of merge queues. Each call is one transaction; any role may call them. */
export interface QueueRows {
  readQueue(key: QueueKey): Promise<QueueRow | undefined>;
  /** Lists the queues of a repository, or all, by repository and branch. */
  listQueues(query?: { readonly repositoryId?: number | undefined }): Promise<readonly QueueRow[]>;
  /**
   * Saves a state if the stored revision is still the named one, and appends the events. Returns false if another save came
   * first: read again. Throws `lease-lost` if a lease is named that has ended or was taken by another.
   */
  saveQueue(save: QueueSave): Promise<boolean>;
  /**
   * Takes the lease of a queue for `leaseMs`, whether or not there is a row; undefined while another holds it. A clock that is
   * set back does not extend a lease beyond `leaseMs` from now.
   */
  claimQueue(key: QueueKey, leaseMs: number): Promise<QueueLease | undefined>;
  /** Extends the lease from now. Returns false if it has ended. */
  extendQueue(lease: QueueLease, leaseMs: number): Promise<boolean>;
  /** Ends the lease; one that has ended is left alone. */
  releaseQueue(lease: QueueLease): Promise<void>;
  /** Lists what happened, newest first: of one queue, one repository, or all. `before`: an id. At most 500; default 50. */
  listQueueHistory(query?: {
    readonly repositoryId?: number | undefined;
    readonly base?: string | undefined;
    readonly before?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly QueueHistoryRow[]>;
}
