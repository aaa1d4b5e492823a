import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../src/platform/errors.ts';
import type { Liveness } from '../../src/store/postgres/presence.ts';
import type { Store } from '../../src/store/store.ts';
import { untilDone } from '../harness/progress.ts';

/** Shorter than in use, so that a run takes seconds. */
export const liveness: Liveness = { beatMs: 250, silentMs: 1_000, lifeMs: 5_000 };

/** What a worker did, at a time of the clock that all processes of a machine share. */
export type AttemptEvent = {
  readonly event: 'start' | 'finish' | 'settled' | 'retry' | 'lost';
  readonly atMs: number;
  readonly worker: string;
  readonly id: string;
  readonly lane: string;
  /** Place in the lane. */
  readonly n: number;
  readonly lease: string;
};

/** A time from which on a worker did nothing any more, or nothing for a while. */
export type Standstill = { readonly worker: string; readonly fromMs: number; readonly toMs: number };

export type WorkersReport = {
  readonly accepted: number;
  /** Accepted, and not settled after a complete attempt. */
  readonly lost: number;
  /** Attempts of one lane at the same time. */
  readonly overlaps: number;
  /** First attempts of deliveries before those of earlier ones of the lane. */
  readonly outOfOrder: number;
  /** Settled twice, or by an attempt that another one had replaced. */
  readonly doubles: number;
  /** Complete attempts whose end was not stored, so that another one repeated what they did. */
  readonly repeats: number;
  /** Attempts that ended in a process that never stood still, and were taken from it all the same. */
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

/** Ids of deliveries: those that the store acknowledged, and those that it says are settled. */
type StoredDeliveries = { readonly accepted: readonly string[]; readonly settled: ReadonlySet<string> };

/** Returns what the events of all workers say. */
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

/** A worker that was killed or stopped does nothing from then on: another one may begin. */
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
      // It may still begin something between the moment that is noted and the one at which the signal arrives.
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

/** Times from the death of a worker to the next attempt of what it was handling. */
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
 * Stores deliveries, in each lane one after the one before was acknowledged, for as long as `isGoing` says so of the number of the
 * next one of a lane. `everyMs` is the time between two of a lane. Adds the ids of those that were acknowledged.
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

/** Waits until all are settled, or for a minute without any progress. */
export async function untilSettled(store: Store, count: number): Promise<void> {
  const left = async (): Promise<number> => count - (await insist(() => store.counts())).settled;
  await untilDone(left, { stuckMs: 60_000 });
}

/** The database says it: a worker can be killed after the server has stored that it settled one, and before it writes so. */
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

/** Asks until the database can be reached. */
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
