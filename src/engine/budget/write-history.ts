import { hash, randomUUID } from 'node:crypto';
import type { Level } from '../../rules/rule.ts';
import type { Budget } from './budgets.ts';

/** Effect of a write on one target. `before` and `after` are compared as JSON texts. */
export type ComparedWrite = {
  /** Target without the name of the repository; see `targetKey`. */
  readonly target: string;
  /** The state before the write; `after` is the state after the write. */
  readonly before: string;
  readonly after: string;
  /** Identities of the rules that requested the write. */
  readonly rules: readonly string[];
};

/** One write. */
export type LedgerEntry = ComparedWrite & {
  readonly atMs: number;
  readonly level: Level;
  /** Id of the account whose act caused the write; absent if there is no such account, or it is unknown. */
  readonly by?: number | undefined;
};

/** A write as stored: with digests instead of texts, which may be long. `by` is the digest of the account. */
export type NotedWrite = ComparedWrite & {
  readonly atMs: number;
  readonly level: Level;
  readonly by?: string | undefined;
  /** Name of the batch in which the write was recorded; `place` is the index of the write in that batch. */
  readonly of: string;
  readonly place: number;
};

/** State of one place: the writes of the last hour, oldest first, and the reservations of deferred runs. */
export type LedgerState = {
  readonly writes: readonly NotedWrite[];
  readonly reserved: readonly Reservation[];
};

/**
 * Part of the budgets reserved for the changes of a deferred run: for all changes, and for those of repository files
 * among them.
 */
type Reservation = Budget & {
  readonly owner: string;
  /** See `Claimant`. */
  readonly work?: string | undefined;
  readonly atMs: number;
  /** The line in which the run waits; see `Line`. */
  readonly line: string;
};

/** Who asks for a part of a budget. */
export type Claimant = {
  /** Digest of the trigger of the run. */
  readonly owner: string;
  /**
   * Digest of the subject and of the rules whose changes wait, if these depend only on live state. A later run with the
   * same digest supersedes the earlier one, and takes its place in the line.
   */
  readonly work?: string | undefined;
};

/**
 * A queue of changes that compete for the same part of a budget. Ordinary changes wait in the line with the empty name,
 * and behind the protective changes, which wait in a separate line. Changes caused by an account without write access wait in a line named by the
 * digest of that account, so that the account delays only itself.
 */
export type Line = {
  readonly name: string;
  /** Returns whether a write of the last hour counts in this line. */
  readonly counts: (write: NotedWrite) => boolean;
};

export const ordinaryLine: Line = { name: '', counts: () => true };
export const protectiveLine: Line = { name: 'protective', counts: () => true };
/** Returns the line of an account without write access. */
export function lineOfAccount(by: string): Line {
  return { name: by, counts: (write) => write.by === by };
}

/**
 * Flips of a target. A flip is a replacement that a rule repeats because another rule or another writer reverted it. If
 * a rule changes its result because its input changed, this is not a flip.
 */
export type Flips = {
  readonly count: number;
  /** Whether the write would be another flip. */
  readonly isFlip: boolean;
  /** Digests of the other rules that wrote to the target. */
  readonly others: readonly string[];
  /** Times of the flips, oldest first. */
  readonly atMs: readonly number[];
};

/** Recent writes by place. A place is the id of a repository, or the name of another subject. */
export interface BudgetLedger {
  /**
   * Calls `work` with the history of a place, atomically across processes. `work` may be called several times, each
   * time with the current history; only the last call takes effect.
   */
  edit<Result>(place: number | string, work: (past: WriteHistory) => Result): Promise<Result>;
}

const hourMs = 3_600_000;
/** Time window in which flips are counted. */
export const flipMs = 600_000;
/** Time after which an unused reservation is released, because its delivery was superseded or deleted. */
export const unusedMs = 900_000;

/**
 * Recent writes in one place, and the reservations that deferred runs have made in the hourly budgets, in the order in
 * which they are due. Used during planning, so that concurrent runs see each other's writes and reservations. Expired
 * entries are ignored without modifying the state.
 */
export class WriteHistory {
  readonly #nowMs: () => number;
  /** Plain data, so that it can be stored outside this object. */
  state: LedgerState;

  constructor(state: LedgerState, nowMs: () => number) {
    this.state = state;
    this.#nowMs = nowMs;
  }

  /**
   * Returns the number of writes in the last hour: by all rules, and by repository files among them. If a digest is
   * given, only the writes that this account caused are counted.
   */
  spent(by?: string): Budget {
    const all = this.#writes().filter((write) => by === undefined || write.by === by);
    return { all: all.length, repository: all.filter(({ level }) => level === 'repository').length };
  }

  /** Returns the flips of a target in the last ten minutes, and whether this write would be a flip. */
  flips(write: ComparedWrite): Flips {
    const nowMs = this.#nowMs();
    const [wanted] = noteWrites('', [{ ...write, atMs: nowMs, level: 'operator' }]);
    const history = this.#writes().filter(
      (entry) => entry.atMs > nowMs - flipMs && entry.target === wanted?.target,
    );
    const flips = history.filter((entry, place) => isFlip(entry, history.slice(0, place)));
    const others = history.flatMap((entry) => (wanted && sharesRule(entry, wanted) ? [] : entry.rules));
    return {
      count: flips.length,
      isFlip: wanted !== undefined && isFlip(wanted, history),
      others: [...new Set(others)],
      atMs: flips.map(({ atMs }) => atMs),
    };
  }

  /** Returns the time of the last write to a target within the last hour. */
  lastWriteMs(target: string): number | undefined {
    const wanted = digestOfText(target);
    return this.#writes().findLast((entry) => entry.target === wanted)?.atMs;
  }

  /**
   * Records writes that are about to be sent, and returns the name of their batch, with which they can be taken back.
   */
  record(entries: readonly LedgerEntry[]): string {
    const of = digestOfText(randomUUID());
    if (entries.length > 0)
      this.state = { ...this.state, writes: [...this.#writes(), ...noteWrites(of, entries)] };
    return of;
  }

  /** Removes those writes of a batch that were not sent, given by their index in the batch. */
  takeBack(name: string, notSent: readonly number[]): void {
    if (notSent.length === 0) return;
    const gone = new Set(notSent);
    const left = this.state.writes.filter(({ of, place }) => of !== name || !gone.has(place));
    this.state = { ...this.state, writes: left };
  }

  /**
   * Returns how long a run must wait until its changes fit; 0 if they fit now. Runs that were deferred earlier go
   * first, so that new runs cannot starve them.
   */
  waitMs(claimant: Claimant, wanted: Budget, hour: Budget, line: Line = ordinaryLine): number {
    const all = this.#reserved();
    // A write made now stops counting after an hour, so it does not compete with reservations that are due after that.
    // There may be many such reservations if the budget for repository files is small.
    const isSoon = ({ atMs }: Reservation): boolean => atMs <= this.#nowMs() + hourMs;
    const isAhead = (one: Reservation): boolean =>
      line.name === ordinaryLine.name &&
      one.line === protectiveLine.name &&
      one.owner !== claimant.owner &&
      isSoon(one);
    // In the order in which they are due.
    const reserved = all.filter((one) => one.line === line.name || isAhead(one));
    const place = reserved.findIndex((one) => one.line === line.name && isOf(one, claimant));
    if (place >= 0) {
      const earlier = reserved.filter((one, at) => at < place || isAhead(one));
      return this.#waitBehind(earlier, wanted, hour, line);
    }
    if (this.#waitBehind(reserved.filter(isSoon), wanted, hour, line) === 0) return 0;
    return this.#waitBehind(reserved, wanted, hour, line);
  }

  /**
   * Reserves part of the budgets for a deferred run, due after this delay. A later call in the same line with the same
   * owner or work replaces the reservation.
   */
  reserve({ owner, work }: Claimant, wanted: Budget, afterMs: number, { name }: Line = ordinaryLine): void {
    const reservation = { ...wanted, owner, work, atMs: this.#nowMs() + afterMs, line: name };
    const others = this.#reserved().filter((one) => one.line !== name || !isOf(one, reservation));
    const reserved = [...others, reservation].sort((a, b) => a.atMs - b.atMs);
    this.state = { ...this.state, reserved };
  }

  /** Releases the reservations of a claimant in all lines, because its run has started again. */
  release(claimant: Claimant): void {
    const reserved = this.state.reserved.filter((one) => !isOf(one, claimant));
    if (reserved.length < this.state.reserved.length) this.state = { ...this.state, reserved };
  }

  #writes(): readonly NotedWrite[] {
    const now = this.#nowMs();
    // A write in the future was recorded before the clock was set back, or by a process whose clock is ahead. It counts
    // for at most one hour from now.
    const { writes: all } = this.state;
    const kept = all.some(({ atMs }) => atMs <= now - hourMs)
      ? all.filter(({ atMs }) => atMs > now - hourMs)
      : all;
    if (!kept.some(({ atMs }) => atMs > now)) return kept;
    const held = kept.map((write) => (write.atMs > now ? { ...write, atMs: now } : write));
    this.state = { ...this.state, writes: held };
    return held;
  }

  #reserved(): readonly Reservation[] {
    const usedUpMs = this.#nowMs() - unusedMs;
    return this.state.reserved.filter(({ atMs }) => atMs > usedUpMs);
  }

  /** Returns how long changes must wait behind these reservations. */
  #waitBehind(earlier: readonly Reservation[], wanted: Budget, hour: Budget, line: Line): number {
    const written = this.#writes().filter(line.counts);
    const now = this.#nowMs();
    const all = roomAtMs(timesOf(written), countsOf(earlier, 'all'), hour.all - wanted.all);
    if (wanted.repository === 0) return Math.max(all - now, 0);
    const ofFiles = written.filter(({ level }) => level === 'repository');
    const left = hour.repository - wanted.repository;
    const repository = roomAtMs(timesOf(ofFiles), countsOf(earlier, 'repository'), left);
    return Math.max(all - now, repository - now, 0);
  }
}

/** Returns writes in their stored form. */
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

/** Returns the digest that identifies an account in writes and reservations. */
export function digestOfAccount(id: number): string {
  return digestOfText(`account ${id}`);
}

/** Returns a digest of 66 bits, which is enough to distinguish the hundreds of writes per hour and place. */
export function digestOfText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 11);
}

/**
 * Returns whether a rule repeats an earlier replacement that another rule or another writer has reverted: the last
 * write to the target was not made by this rule, or the state to replace is not its result.
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

function isOf(one: Reservation, { owner, work }: Claimant): boolean {
  return one.owner === owner || (work !== undefined && one.work === work);
}

type Count = { readonly atMs: number; readonly count: number };

function countsOf(reservations: readonly Reservation[], budget: keyof Budget): readonly Count[] {
  return reservations.map((one) => ({ atMs: one.atMs, count: one[budget] }));
}

function timesOf(writes: readonly NotedWrite[]): readonly number[] {
  return writes.map(({ atMs }) => atMs);
}

/**
 * Returns the time from which at most `left` of these writes and reservations are less than an hour old. If that is
 * already true, the returned time is in the past.
 */
function roomAtMs(writtenAtMs: readonly number[], reserved: readonly Count[], left: number): number {
  let rest = left;
  for (const { atMs, count } of reserved.toReversed()) {
    if (rest < count) return atMs + hourMs;
    rest -= count;
  }
  const oldestToGo = writtenAtMs.length - rest - 1;
  return (writtenAtMs[oldestToGo] ?? Number.NEGATIVE_INFINITY) + (oldestToGo < 0 ? 0 : hourMs);
}
