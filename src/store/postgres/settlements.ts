import { ReeveError } from '../../platform/errors.ts';
import type { EncodedRun } from '../encoded-runs.ts';
import type { Claim } from '../store.ts';
import type { PostgresContext } from './context.ts';
import { prepareOnce, type SqlResult } from './link/connections.ts';
import { indexableText, storableText } from './link/text.ts';
import { nowSql } from './link/time.ts';
import { insertRuns, lastOfEach, replaceRun } from './runs.ts';

/** Limits of one statement. */
const maxSettlements = 256;
const maxBytes = 4 * 2 ** 20;

/** An attempt that ended well: the delivery is settled, with its runs. */
type Settlement = {
  readonly claim: Claim;
  readonly reason: string | null;
  /** None of a rule that failed: see `isPlain`. */
  readonly runs: readonly EncodedRun[];
};

/** One that waits for its statement. */
type Waiting = Settlement & {
  readonly resolve: (isHeld: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/** Whether runs can be settled together with others: a rule that failed is counted, in a transaction of its own. */
export function isPlain(runs: readonly EncodedRun[]): boolean {
  return runs.every(({ results }) => results.failed.length === 0);
}

/**
 * Settles deliveries. All attempts that end while a statement is under way are settled by the next one: one commit serves many
 * of them. Each is fenced by its lease for itself.
 */
export class Settlements {
  readonly #context: Pick<PostgresContext, 'planned' | 'at'>;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;

  constructor(context: Pick<PostgresContext, 'planned' | 'at'>) {
    this.#context = context;
  }

  /** Returns whether the lease was still held; otherwise nothing has happened. */
  settle(settlement: Settlement): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...settlement, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    // Other attempts that end in this turn of the event loop join the first statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#settle(this.#take());
    this.#draining = undefined;
  }

  /** Takes the next ones. A statement changes a row once, so two with one run are settled one after the other. */
  #take(): readonly Waiting[] {
    const ids = new Set<string>();
    let bytes = 0;
    let count = 0;
    for (const { claim, runs } of this.#waiting) {
      const own = [claim.id, ...runs.map(({ id }) => `run ${storableText(id)}`)];
      const size = runs.reduce((sum, { json }) => sum + json.length, 0);
      const isFull = count === maxSettlements || bytes + size > maxBytes || own.some((id) => ids.has(id));
      if (count > 0 && isFull) break;
      for (const id of own) ids.add(id);
      bytes += size;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const { rows } = await this.#write(batch);
      const ended = new Set(rows.map(({ id }) => String(id)));
      for (const { claim, resolve } of batch) resolve(ended.has(claim.id));
    } catch (error) {
      const isRefusal = error instanceof ReeveError && error.code === 'store-unwritable';
      if (isRefusal || batch.length === 1) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One that the server cannot hold must not fail the others.
      for (const one of batch) await this.#settle([one]);
    }
  }

  #write(batch: readonly Waiting[]): Promise<SqlResult> {
    const { planned, at } = this.#context;
    const given = [
      batch.map(({ claim }) => Number(claim.id)),
      batch.map(({ claim }) => claim.lease),
      batch.map(({ reason }) => reason),
      at(),
    ];
    const runs = batch.flatMap(({ claim, runs }) => lastOfEach(runs).map((run) => ({ claim, run })));
    if (runs.length === 0) return planned.query(settle, given);
    const passed = runs.flatMap(({ claim, run: { item, results } }) => {
      const subject = item ?? claim.lane;
      if (subject === undefined) return [];
      return results.passed.map((rule) => [Number(claim.id), indexableText(subject), indexableText(rule)]);
    });
    return planned.query(settleWithRuns, [
      ...given,
      runs.map(({ run }) => storableText(run.id)),
      runs.map(({ claim }) => Number(claim.id)),
      runs.map(({ claim }) => claim.repositoryId ?? null),
      runs.map(({ run }) => storableText(run.startedAt)),
      runs.map(({ run }) => run.json),
      passed.map(([id]) => id),
      passed.map(([, subject]) => subject),
      passed.map(([, , rule]) => rule),
    ]);
  }
}

const ended = `
  given AS MATERIALIZED (
    SELECT id, lease, reason FROM unnest($1::bigint[], $2::uuid[], $3::text[]) AS given (id, lease, reason)
  ), ended AS (
    UPDATE deliveries SET state = 'settled', reason = given.reason, settled_at = ${nowSql(4)}, suspicion = 0
    FROM given WHERE deliveries.id = given.id AND deliveries.lease = given.lease AND state = 'claimed'
    RETURNING deliveries.id
  )`;

const settle = prepareOnce(`WITH ${ended} SELECT id FROM ended`);

/** Incidents of rules that passed end on the subject of their last failure. */
const settleWithRuns = prepareOnce(`
  WITH ${ended}, kept AS (
    ${insertRuns} SELECT id, delivery, repository_id, started_at, run
    FROM unnest($5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[]) WITH ORDINALITY
      AS given (id, delivery, repository_id, started_at, run, position)
    WHERE delivery IN (SELECT id FROM ended) ORDER BY position ${replaceRun}
  ), passed AS (
    DELETE FROM incidents USING unnest($10::bigint[], $11::text[], $12::text[]) AS given (delivery, subject, key)
    WHERE incidents.kind = 'rule-failed' AND incidents.key = given.key AND incidents.subject = given.subject
      AND given.delivery IN (SELECT id FROM ended)
  )
  SELECT id FROM ended`);
