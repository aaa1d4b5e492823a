import { hash, randomUUID } from 'node:crypto';
import type { Level } from '../../rules/rule.ts';
import type { Budget } from './budgets.ts';
import { createReservations, type Reservation, type Reservations } from './reservations.ts';

/** One write to one target. `value` and `before` are compared as JSON. */
export type LedgerEntry = {
  readonly atMs: number;
  readonly level: Level;
  /** What it decided, without the names of the repository: `targetKey`. */
  readonly target: string;
  readonly value: string;
  readonly before: string;
};

/** A write as it is kept: of the texts, which may be long, their digests. */
export type NotedWrite = LedgerEntry & {
  /** The run that noted it, and its place among the writes of that run. */
  readonly of: string;
  readonly place: number;
};

/** What is kept of one place: the writes of the last hour, the oldest first, and the room that deferred runs wait for. */
export type LedgerState = {
  readonly writes: readonly NotedWrite[];
  readonly reserved: readonly Reservation[];
};

/** What was written in one place of late. Asked while the plan is made, so that two runs at once see each other. */
export interface WriteHistory {
  /** Writes of the last hour, by all rules and by files of repositories among them. */
  spent(): Budget;
  /** Room in the hourly budgets for runs that were deferred. */
  readonly reservations: Reservations;
  /** How often in the last ten minutes the target's value returned to an earlier one; and whether this one would. */
  flips(target: string, value: unknown): { readonly count: number; readonly returns: boolean };
  /** Notes writes that are about to be sent, and returns the name by which they are taken back. */
  record(entries: readonly LedgerEntry[]): string;
  /** Takes back those of the writes with this name that were not sent, by place in the list. */
  takeBack(name: string, notSent: readonly number[]): void;
}

/** What was written, by place: a repository's id, or what else a subject has. */
export interface BudgetLedger {
  /**
   * Calls `work` with the history of a place, in one step: nothing is written in between, by whatever process. `work` may be
   * called several times, each time with what stands there then; the last time counts.
   */
  edit<Result>(place: number | string, work: (past: WriteHistory) => Result): Promise<Result>;
}

/** A history whose state can be kept elsewhere. What is too old to count does not change the state by itself. */
export interface KeptHistory extends WriteHistory {
  state: LedgerState;
}

const hourMs = 3_600_000;
const flipMs = 600_000;

/** Creates the history of a place on a state. */
export function createWriteHistory(initial: LedgerState, nowMs: () => number): KeptHistory {
  let state = initial;
  const writes = (): readonly NotedWrite[] => {
    const now = nowMs();
    // A write that is in the future was made before the clock was set back, or by a process whose clock is ahead: it counts
    // for an hour from now, not for longer.
    const { writes: all } = state;
    const kept = all.some(({ atMs }) => atMs <= now - hourMs)
      ? all.filter(({ atMs }) => atMs > now - hourMs)
      : all;
    if (!kept.some(({ atMs }) => atMs > now)) return kept;
    const held = kept.map((write) => (write.atMs > now ? { ...write, atMs: now } : write));
    state = { ...state, writes: held };
    return held;
  };
  return {
    get state() {
      return state;
    },
    set state(given) {
      state = given;
    },
    spent() {
      const all = writes();
      return { all: all.length, repository: all.filter(({ level }) => level === 'repository').length };
    },
    reservations: createReservations({
      writes,
      nowMs,
      reserved: () => state.reserved,
      keep: (reserved) => {
        state = { ...state, reserved };
      },
    }),
    flips(target, value) {
      const wanted = digestOfText(target);
      const sinceMs = nowMs() - flipMs;
      const history = state.writes.filter((entry) => entry.atMs > sinceMs && entry.target === wanted);
      const returns = history.length > 0 && seenBefore(history, digestOfText(JSON.stringify(value) ?? ''));
      return { count: countReturns(history), returns };
    },
    record(entries) {
      const of = digestOfText(randomUUID());
      if (entries.length > 0) state = { ...state, writes: [...writes(), ...noteWrites(of, entries)] };
      return of;
    },
    takeBack(name, notSent) {
      if (notSent.length === 0) return;
      const gone = new Set(notSent);
      const left = state.writes.filter(({ of, place }) => of !== name || !gone.has(place));
      state = { ...state, writes: left };
    },
  };
}

/** Returns writes as they are kept. */
export function noteWrites(of: string, entries: readonly LedgerEntry[]): readonly NotedWrite[] {
  return entries.map(({ atMs, level, target, value, before }, place) => ({
    of,
    place,
    atMs,
    level,
    target: digestOfText(target),
    value: digestOfText(value),
    before: digestOfText(before),
  }));
}

/** 66 bits: the writes of one hour in one place that are compared are some hundreds. */
export function digestOfText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 11);
}

function countReturns(history: readonly NotedWrite[]): number {
  return history.filter(({ value }, place) => seenBefore(history.slice(0, place), value)).length;
}

/** The value that stood before the first write was there earlier, too. */
function seenBefore(history: readonly NotedWrite[], value: string): boolean {
  return history[0]?.before === value || history.some((entry) => entry.value === value);
}
