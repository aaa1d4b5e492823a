import { deleteOldRuleTexts } from './rule-texts.ts';
import { sampleSeconds } from './samples.ts';
import type { Sql, Statement } from './sql.ts';

export type PruneLimits = {
  /**
   * Deletes deliveries settled before this date, runs without a delivery and queue history from before this date, and
   * idle queues last changed before this date.
   */
  readonly olderThan?: Date;
  /** Deletes deliveries that died before this date. */
  readonly deadOlderThan?: Date;
  readonly maxBytes?: number;
  /** Deletes plain data, under keys with these prefixes, whose member `at` is before the date. */
  readonly memory?: readonly { readonly prefix: string; readonly before: Date }[];
  /** Deletes samples of these widths that begin before the date. */
  readonly samples?: readonly { readonly minutes: number; readonly before: Date }[];
};

/** Number of deletions. `deliveries` includes the dead ones. */
export type Pruned = { readonly deliveries: number; readonly dead: number; readonly runs: number };

/** Number of rows deleted in one transaction, which limits how long the intake waits. */
export const pruneBatch = 200;
/** Number of rows examined in one transaction. */
export const pruneStretch = 2_000;

/** Additional time for which headers are kept, because the time of their last use is renewed only once a day. */
const headerSetsKeptMs = 2 * 86_400_000;

/** Ended deliveries are deleted if they ended before these instants, given as RFC 3339; undefined: none are deleted. */
export type Expiry = { readonly settled: string | undefined; readonly dead: string | undefined };

/** Text that sorts after every RFC 3339 text. */
export const everyAge = '~';

/** Deletions of one batch. The next batch continues after `next`; undefined at the end. */
export type PrunedBatch = {
  readonly settled: number;
  readonly dead: number;
  readonly runs: number;
  readonly next: number | undefined;
};

/**
 * Deletions of deliveries and runs, implemented for each database. Each call deletes one bounded batch, in a separate
 * transaction.
 */
export interface Deletions {
  /** Deletes expired deliveries with their runs, starting after an id. */
  deleteExpired(expiry: Expiry, after: number): Promise<PrunedBatch>;
  /** Deletes runs without a delivery that started before an instant. */
  deleteLooseRuns(before: string): Promise<number>;
  /** Returns the bytes in use; freed space is reused before the store grows. */
  bytesInUse(): Promise<number>;
}

/**
 * Deletes everything beyond the limits, batch by batch. `onSettledGone` is called with the number of settled deliveries
 * in each batch.
 */
export async function prune(
  sql: Sql,
  deletions: Deletions,
  { olderThan, deadOlderThan, maxBytes = Number.POSITIVE_INFINITY, memory = [], samples = [] }: PruneLimits,
  onSettledGone: (count: number) => void = () => {},
): Promise<Pruned> {
  const gone = { deliveries: 0, dead: 0, runs: 0 };
  const always = async (): Promise<boolean> => true;
  const isTooLarge = async (): Promise<boolean> => (await deletions.bytesInUse()) > maxBytes;

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
  /** Deletes in batches until a batch is not full. */
  const deleteAll = async (statement: Statement): Promise<void> => {
    for (let rows = pruneBatch; rows === pruneBatch; ) [rows = 0] = await sql.batch([statement]);
  };

  const settled = olderThan?.toISOString();
  const dead = deadOlderThan?.toISOString();
  if (settled !== undefined || dead !== undefined) await deleteDeliveries({ settled, dead }, always);
  if (settled !== undefined) {
    await deleteRuns(settled, always);
    await deleteAll(deleteHistory(settled));
    await deleteAll(deleteQueues(sql, settled));
  }
  if (olderThan !== undefined && deadOlderThan !== undefined) {
    const oldest = Math.min(olderThan.getTime(), deadOlderThan.getTime());
    await deleteAll(deleteHeaderSets(new Date(oldest - headerSetsKeptMs).toISOString()));
  }
  for (const { minutes, before } of samples) await deleteAll(deleteSamples(minutes, before));
  for (const { prefix, before } of memory) await deleteAll(deleteMemory(sql, prefix, before.toISOString()));
  await sql.batch([deleteOldRuleTexts()]);
  await deleteDeliveries({ settled: everyAge, dead: undefined }, isTooLarge);
  await deleteRuns(everyAge, isTooLarge);
  await deleteDeliveries({ settled: undefined, dead: everyAge }, isTooLarge);
  return gone;
}

function deleteHistory(before: string): Statement {
  return {
    sql: `DELETE FROM queue_history WHERE id IN
            (SELECT id FROM queue_history WHERE at < ? ORDER BY at LIMIT ${pruneBatch})`,
    values: [before],
  };
}

/**
 * Deletes idle queues that have not changed since an instant. Changes while the statement waits for another process
 * also count.
 */
function deleteQueues({ words: { isAtRest } }: Sql, before: string): Statement {
  return {
    sql: `DELETE FROM queues WHERE (repository_id, base) IN
            (SELECT repository_id, base FROM queues WHERE updated_at < ? AND ${isAtRest} LIMIT ${pruneBatch})
          AND updated_at < ? AND ${isAtRest}`,
    values: [before, before],
  };
}

/** Deletes headers that no delivery has used since an instant. */
function deleteHeaderSets(before: string): Statement {
  return {
    sql: `DELETE FROM header_sets WHERE id IN (SELECT id FROM header_sets WHERE used_at < ? LIMIT ${pruneBatch})
          AND used_at < ?`,
    values: [before, before],
  };
}

function deleteSamples(minutes: number, before: Date): Statement {
  return {
    sql: `DELETE FROM samples WHERE minutes = ? AND (at, name) IN
            (SELECT at, name FROM samples WHERE minutes = ? AND at < ? LIMIT ${pruneBatch})`,
    values: [minutes, minutes, sampleSeconds(before)],
  };
}

/** Deletes plain data that is older than an instant, under keys with a prefix. */
function deleteMemory({ words: { memoryDate } }: Sql, prefix: string, before: string): Statement {
  return {
    sql: `DELETE FROM memory WHERE key IN
            (SELECT key FROM memory WHERE key >= ? AND key < ? AND ${memoryDate} < ? LIMIT ${pruneBatch})`,
    values: [{ indexed: prefix }, `${prefix}\u{10ffff}`, before],
  };
}

const dayMs = 86_400_000;

/** Retention of ended deliveries and their runs, and the size limit of the store. */
export type Retention = {
  /** Retention of settled deliveries, since they were settled, and of runs of sweeps, since they started. */
  readonly settledMs: number;
  /** Retention of dead deliveries, since they died. */
  readonly deadMs: number;
  /**
   * Size of the store above which the oldest deliveries are deleted regardless of age: first settled ones, then dead
   * ones.
   */
  readonly maxBytes: number;
};

export const standardRetention: Retention = {
  settledMs: 30 * dayMs,
  deadMs: 90 * dayMs,
  maxBytes: 5 * 2 ** 30,
};
