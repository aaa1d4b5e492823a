import { hash, randomUUID } from 'node:crypto';
import type { Level } from '../../rules/rule.ts';
import type { Budget } from './budgets.ts';
import { createReservations, type Reservation, type Reservations } from './reservations.ts';

/** One write to one target. `before` and `after` are compared as JSON. */
export type LedgerEntry = {
  readonly atMs: number;
  readonly level: Level;
  /** What it decided, without the names of the repository: `targetKey`. */
  readonly target: string;
  /** The state before and after it. */
  readonly before: string;
  readonly after: string;
  /** Identities of the rules that asked for it. */
  readonly rules: readonly string[];
  /** Id of the account whose act caused it; absent: no act of an account, or an unknown one. */
  readonly by?: number | undefined;
};

/** A write as it is kept: of the texts, which may be long, their digests. `by`: the digest of the account. */
export type NotedWrite = Omit<LedgerEntry, 'by'> & {
  readonly by?: string | undefined;
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
  /** Writes of the last hour, by all rules and by files of repositories among them; with a digest, those that this account caused. */
  spent(by?: string): Budget;
  /** Room in the hourly budgets for runs that were deferred. */
  readonly reservations: Reservations;
  /** Returns the flips of a target in the last ten minutes, and whether this write would be one. */
  flips(write: Pick<LedgerEntry, 'target' | 'before' | 'after' | 'rules'>): Flips;
  /** Returns the instant of the last write to a target within the last hour. */
  lastWriteMs(target: string): number | undefined;
  /** Notes writes that are about to be sent, and returns the name by which they are taken back. */
  record(entries: readonly LedgerEntry[]): string;
  /** Takes back those of the writes with this name that were not sent, by place in the list. */
  takeBack(name: string, notSent: readonly number[]): void;
}

/**
 * What a target went through. A flip is a replacement that a rule makes again because another rule or another writer took it back.
 * A rule that changes its mind, since what it judges has changed, makes none.
 */
export type Flips = {
  readonly count: number;
  /** Whether the write would be one more. */
  readonly isFlip: boolean;
  /** Digests of the other rules that wrote to the target. */
  readonly others: readonly string[];
  /** The instants of the flips, oldest first. */
  readonly atMs: readonly number[];
};

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
/** Time in which flips are counted. */
export const flipMs = 600_000;

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
    spent(by) {
      const all = writes().filter((write) => by === undefined || write.by === by);
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
    flips(write) {
      const [wanted] = noteWrites('', [{ ...write, atMs: nowMs(), level: 'operator' }]);
      const sinceMs = nowMs() - flipMs;
      const history = writes().filter((entry) => entry.atMs > sinceMs && entry.target === wanted?.target);
      const flips = history.filter((entry, place) => isFlip(entry, history.slice(0, place)));
      const others = history.flatMap((entry) => (wanted && sharesRule(entry, wanted) ? [] : entry.rules));
      return {
        count: flips.length,
        isFlip: wanted !== undefined && isFlip(wanted, history),
        others: [...new Set(others)],
        atMs: flips.map(({ atMs }) => atMs),
      };
    },
    lastWriteMs(target) {
      const wanted = digestOfText(target);
      return writes().findLast((entry) => entry.target === wanted)?.atMs;
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
  return entries.map(({ atMs, level, target, before, after, rules, by }, place) => ({
    of,
    place,
    atMs,
    level,
    target: digestOfText(target),
    before: digestOfText(before),
    after: digestOfText(after),
    rules: rules.map(digestOfText),
    ...(by === undefined ? {} : { by: digestOfAccount(by) }),
  }));
}

/** Returns an account as writes and reservations name it. */
export function digestOfAccount(id: number): string {
  return digestOfText(`account ${id}`);
}

/** 66 bits: the writes of one hour in one place that are compared are some hundreds. */
export function digestOfText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 11);
}

/**
 * Whether a rule makes a replacement that it made before, of a state that is not its own last one: whatever it wrote in between was
 * taken back by another rule or another writer.
 */
function isFlip(write: NotedWrite, earlier: readonly NotedWrite[]): boolean {
  const last = earlier.at(-1);
  if (last === undefined || (last.after === write.before && sharesRule(last, write))) return false;
  return earlier.some(
    (one) => one.before === write.before && one.after === write.after && sharesRule(one, write),
  );
}

function sharesRule(one: NotedWrite, other: NotedWrite): boolean {
  return one.rules.some((rule) => other.rules.includes(rule));
}
