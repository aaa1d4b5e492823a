export type PruneLimits = {
  /**
   * Deletes deliveries that were settled before this; runs without a delivery, and history of queues, from before it; and
   * queues that hold nothing and were changed last before it.
   */
  readonly olderThan?: Date;
  /** Deletes deliveries that died before this. */
  readonly deadOlderThan?: Date;
  readonly maxBytes?: number;
  /** Deletes plain data under keys with these prefixes whose member `at` is before the date. */
  readonly memory?: readonly { readonly prefix: string; readonly before: Date }[];
  /** Deletes samples of these widths that begin before the date. */
  readonly samples?: readonly { readonly minutes: number; readonly before: Date }[];
};

/** Number of deletions; `deliveries` includes the dead ones. */
export type Pruned = { readonly deliveries: number; readonly dead: number; readonly runs: number };

/** Rows deleted in one transaction: an intake waits no longer than this takes. */
export const pruneBatch = 200;
/** Rows looked at in one transaction. */
export const pruneStretch = 2_000;

/** Headers are kept longer than deliveries: the instant of their last use is renewed once a day. */
const headerSetsKeptMs = 2 * 86_400_000;

/** Which ended deliveries to delete: those that ended before these instants, as RFC 3339; none where undefined. */
export type Expiry = { readonly settled: string | undefined; readonly dead: string | undefined };

/** Beyond every RFC 3339 text. */
export const everyAge = '~';

/** What a batch deleted. `next` is where the following one goes on; undefined at the end. */
export type PrunedBatch = {
  readonly settled: number;
  readonly dead: number;
  readonly runs: number;
  readonly next: number | undefined;
};

/** What deleting takes. Each call deletes one bounded batch, in a transaction of its own. */
export interface Deletions {
  /** Deletes expired deliveries with their runs, beginning after an id. */
  deleteExpired(expiry: Expiry, after: number): Promise<PrunedBatch>;
  /** Deletes runs without a delivery that started before an instant. */
  deleteLooseRuns(before: string): Promise<number>;
  /** Deletes plain data of keys with a prefix that is from before an instant. */
  deleteMemory(prefix: string, before: string): Promise<number>;
  /** Deletes history of queues from before an instant. */
  deleteQueueHistory(before: string): Promise<number>;
  /** Deletes queues at rest that nothing happened to since an instant. */
  deleteQueues(before: string): Promise<number>;
  /** Deletes headers that no delivery has had since an instant. */
  deleteHeaderSets(before: string): Promise<number>;
  /** Deletes samples of a width that begin before an instant. */
  deleteSamples(minutes: number, before: Date): Promise<number>;
  /** Bytes in use; freed space is used again before the store grows. */
  bytesInUse(): Promise<number>;
}

/** Deletes what the limits do not keep, batch by batch. `onSettledGone` is called with the settled deliveries of each. */
export async function prune(
  deletions: Deletions,
  { olderThan, deadOlderThan, maxBytes = Number.POSITIVE_INFINITY, memory = [], samples = [] }: PruneLimits,
  { onSettledGone = () => {} }: { readonly onSettledGone?: (count: number) => void } = {},
): Promise<Pruned> {
  const always = async (): Promise<boolean> => true;
  const gone = { deliveries: 0, dead: 0, runs: 0 };

  const deleteDeliveries = async (expiry: Expiry, mayGoOn: () => Promise<boolean>): Promise<void> => {
    let after: number | undefined = 0;
    while (after !== undefined && (await mayGoOn())) {
      const from: number = after;
      const deleted: PrunedBatch = await deletions.deleteExpired(expiry, from);
      onSettledGone(deleted.settled);
      gone.deliveries += deleted.settled + deleted.dead;
      gone.dead += deleted.dead;
      gone.runs += deleted.runs;
      after = deleted.next;
    }
  };
  const deleteRuns = async (before: string, mayGoOn: () => Promise<boolean>): Promise<void> => {
    for (let runs = pruneBatch; runs === pruneBatch && (await mayGoOn()); gone.runs += runs) {
      runs = await deletions.deleteLooseRuns(before);
    }
  };

  const deleteMemory = async (prefix: string, before: string): Promise<void> => {
    for (let notes = pruneBatch; notes === pruneBatch; ) notes = await deletions.deleteMemory(prefix, before);
  };

  const deleteQueues = async (before: string): Promise<void> => {
    for (let rows = pruneBatch; rows === pruneBatch; ) rows = await deletions.deleteQueueHistory(before);
    for (let rows = pruneBatch; rows === pruneBatch; ) rows = await deletions.deleteQueues(before);
  };

  const deleteSamples = async (minutes: number, before: Date): Promise<void> => {
    for (let rows = pruneBatch; rows === pruneBatch; ) rows = await deletions.deleteSamples(minutes, before);
  };
  const deleteHeaderSets = async (limit: number): Promise<void> => {
    const before = new Date(limit - headerSetsKeptMs).toISOString();
    for (let rows = pruneBatch; rows === pruneBatch; ) rows = await deletions.deleteHeaderSets(before);
  };

  const settled = olderThan?.toISOString();
  const dead = deadOlderThan?.toISOString();
  if (settled !== undefined || dead !== undefined) await deleteDeliveries({ settled, dead }, always);
  if (settled !== undefined) {
    await deleteRuns(settled, always);
    await deleteQueues(settled);
  }
  if (olderThan !== undefined && deadOlderThan !== undefined)
    await deleteHeaderSets(Math.min(olderThan.getTime(), deadOlderThan.getTime()));
  for (const { minutes, before } of samples) await deleteSamples(minutes, before);
  for (const { prefix, before } of memory) await deleteMemory(prefix, before.toISOString());
  const isTooLarge = async (): Promise<boolean> => (await deletions.bytesInUse()) > maxBytes;
  await deleteDeliveries({ settled: everyAge, dead: undefined }, isTooLarge);
  await deleteRuns(everyAge, isTooLarge);
  await deleteDeliveries({ settled: undefined, dead: everyAge }, isTooLarge);
  return gone;
}

const dayMs = 86_400_000;

/** Retention of ended deliveries and their runs, and the size limit of the store. */
export type Retention = {
  /** For settled deliveries, since they were settled; for runs of sweeps, since they started. */
  readonly settledMs: number;
  /** For dead deliveries, since they died. */
  readonly deadMs: number;
  /** Above this size the oldest are deleted whatever their age: settled ones first, then dead ones. */
  readonly maxBytes: number;
};

export const standardRetention: Retention = {
  settledMs: 30 * dayMs,
  deadMs: 90 * dayMs,
  maxBytes: 5 * 2 ** 30,
};
