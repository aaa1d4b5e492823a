import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../src/platform/errors.ts';
import type { Liveness } from '../../src/store/postgres/presence.ts';
import type { Store } from '../../src/store/store.ts';
import { untilDone } from '../harness/progress.ts';

/** Shorter than in production, so that a run takes seconds. */
export const liveness: Liveness = { beatMs: 250, silentMs: 1_000, lifeMs: 5_000 };

/** Action of a worker, with the time of a clock that all processes of a machine share. */
export type AttemptEvent = {
  readonly event: 'start' | 'finish' | 'settled' | 'retry' | 'lost';
  readonly atMs: number;
  readonly worker: string;
  readonly id: string;
  readonly lane: string;
  /** Position in the lane. */
  readonly n: number;
  readonly lease: string;
};

/** Period in which a worker did nothing, because it was dead or suspended. */
export type Standstill = { readonly worker: string; readonly fromMs: number; readonly toMs: number };

export type WorkersReport = {
  readonly accepted: number;
  /** Deliveries that were accepted, but not settled after a complete attempt. */
  readonly lost: number;
  /** Concurrent attempts in one lane. */
  readonly overlaps: number;
  /** First attempts of deliveries before those of earlier ones in the lane. */
  readonly outOfOrder: number;
  /** Deliveries settled twice, or by an attempt that had been replaced by another one. */
  readonly doubles: number;
  /** Complete attempts whose end was not stored, so that another attempt repeated their work. */
  readonly repeats: number;
  /** Attempts that were taken from a process although it never stood still. */
  readonly taken: number;
  readonly attempts: number;
  readonly kills: number;
  readonly takeoverMs: readonly number[];
};

type Attempt = AttemptEvent & {
  readonly untilMs: number;
  readonly isFinished: boolean;
  readonly end: AttemptEvent | undefined;
};

/** Ids of deliveries: those that the store acknowledged, and those that it reports as settled. */
type StoredDeliveries = { readonly accepted: readonly string[]; readonly settled: ReadonlySet<string> };

/** Returns the result that follows from the events of all workers. */
export function judgeAttempts(
  events: readonly AttemptEvent[],
  standstills: readonly Standstill[],
  { accepted, settled }: StoredDeliveries,
): WorkersReport {
  const attempts = attemptsOf(events, standstills);
  const lanes = Map.groupBy(attempts, ({ lane }) => lane);
  const deliveries = Map.groupBy(attempts, ({ id }) => id);
  const finished = new Set(events.filter(({ event }) => event === 'finish').map(({ id }) => id));
  const stood = new Set(standstills.map(({ worker }) => worker));
  return {
    accepted: accepted.length,
    lost: accepted.filter((id) => !settled.has(id) || !finished.has(id)).length,
    overlaps: sum([...lanes.values()].map(overlapsOf)),
    outOfOrder: sum([...lanes.values()].map(inversionsOf)),
    doubles: sum([...deliveries.values()].map(doublesOf)),
    repeats: sum([...deliveries.values()].map(repeatsOf)),
    taken: attempts.filter(({ end, worker }) => end?.event === 'lost' && !stood.has(worker)).length,
    attempts: attempts.length,
    kills: standstills.filter(({ toMs }) => toMs === Number.POSITIVE_INFINITY).length,
    takeoverMs: takeoversOf(deliveries, standstills),
  };
}

/**
 * Returns the attempts in the events. A killed or stopped worker does nothing from then on, so another one may start.
 */
function attemptsOf(events: readonly AttemptEvent[], standstills: readonly Standstill[]): readonly Attempt[] {
  const finishes = new Map(
    events.filter(({ event }) => event === 'finish').map((one) => [one.lease, one.atMs]),
  );
  const ends = new Map(
    events.filter(({ event }) => ['settled', 'retry', 'lost'].includes(event)).map((one) => [one.lease, one]),
  );
  const stops = Map.groupBy(standstills, ({ worker }) => worker);
  return events
    .filter(({ event }) => event === 'start')
    .sort((a, b) => a.atMs - b.atMs)
    .map((start) => {
      const finishMs = finishes.get(start.lease) ?? Number.POSITIVE_INFINITY;
      // The worker may still start something between the recorded time and the arrival of the signal.
      const stop = stops
        .get(start.worker)
        ?.find(({ fromMs, toMs }) => toMs > start.atMs && fromMs < finishMs);
      const untilMs = stop === undefined ? finishMs : Math.max(stop.fromMs, start.atMs);
      return { ...start, untilMs, isFinished: finishes.has(start.lease), end: ends.get(start.lease) };
    });
}

function overlapsOf(attempts: readonly Attempt[]): number {
  let count = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const attempt of attempts) {
    if (attempt.atMs < untilMs) count += 1;
    untilMs = Math.max(untilMs, attempt.untilMs);
  }
  return count;
}

function inversionsOf(attempts: readonly Attempt[]): number {
  const seen = new Set<number>();
  let last = -1;
  let count = 0;
  for (const { n } of attempts) {
    if (seen.has(n)) continue;
    seen.add(n);
    if (n < last) count += 1;
    last = Math.max(last, n);
  }
  return count;
}

function doublesOf(attempts: readonly Attempt[]): number {
  const settled = attempts.filter(({ end }) => end?.event === 'settled');
  const isReplaced = settled.filter(({ end, atMs }) =>
    attempts.some((later) => later.atMs > atMs && later.atMs < (end?.atMs ?? 0)),
  );
  return Math.max(settled.length - 1, 0) + isReplaced.length;
}

function repeatsOf(attempts: readonly Attempt[]): number {
  return attempts.filter(
    ({ isFinished, end }, index) =>
      isFinished && (end === undefined || end.event === 'lost') && index < attempts.length - 1,
  ).length;
}

/** Returns the times from the death of a worker to the next attempt at the deliveries it was handling. */
function takeoversOf(
  deliveries: ReadonlyMap<string, readonly Attempt[]>,
  standstills: readonly Standstill[],
): readonly number[] {
  const deaths = new Map(
    standstills.filter(({ toMs }) => toMs === Number.POSITIVE_INFINITY).map((one) => [one.worker, one]),
  );
  const times: number[] = [];
  for (const attempts of deliveries.values()) {
    for (const [index, attempt] of attempts.entries()) {
      const next = attempts[index + 1];
      const death = deaths.get(attempt.worker);
      if (death !== undefined && next !== undefined && attempt.untilMs >= death.fromMs)
        times.push(next.atMs - death.fromMs);
    }
  }
  return times.sort((a, b) => a - b);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const laneCount = 12;

/**
 * Stores deliveries in each lane, one at a time after the previous one was acknowledged, as long as `isGoing` returns
 * true for the number of the lane's next delivery. `everyMs` is the time between two deliveries of a lane. Adds the ids
 * of acknowledged deliveries.
 */
export async function feed(
  store: Store,
  accepted: string[],
  { isGoing, everyMs = 0 }: { readonly isGoing: (n: number) => boolean; readonly everyMs?: number },
): Promise<void> {
  const lanes = Array.from({ length: laneCount }, (_, lane) => `${lane % 5}#${lane}`);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let n = 1; isGoing(n * laneCount); n += 1) {
        const delivery = {
          uuid: randomUUID(),
          eventType: 'push',
          entry: 'crash',
          contentType: 'application/json',
          receivedAt: new Date(),
          body: Buffer.from(JSON.stringify({ lane, n })),
        };
        accepted.push((await insist(() => store.accept(delivery))).id);
        if (everyMs > 0) await pause(everyMs);
      }
    }),
  );
}

/** Waits until all deliveries are settled, or until there has been no progress for a minute. */
export async function untilSettled(store: Store, count: number): Promise<void> {
  const left = async (): Promise<number> => count - (await insist(() => store.counts())).settled;
  await untilDone(left, { stuckMs: 60_000 });
}

/**
 * Reads settled deliveries from the database: a worker can be killed after the server has stored a settlement, and
 * before the worker writes its event.
 */
export async function settledIn(store: Store): Promise<ReadonlySet<string>> {
  const settled = new Set<string>();
  for (let before: string | undefined; ; ) {
    const query = { state: 'settled', limit: 500, ...(before === undefined ? {} : { before }) } as const;
    const { items, next } = await insist(() => store.listDeliveries(query));
    for (const { id } of items) settled.add(id);
    if (next === undefined) return settled;
    before = next;
  }
}

/** Repeats a request until the database can be reached. */
export async function insist<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'store-unwritable') throw error;
      await pause(50);
    }
  }
}
