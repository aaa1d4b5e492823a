import type { Budget } from './budgets.ts';

/** Changes of a deferred run for which room is kept: all of them, and those of repository files among them. */
export type Reservation = Budget & {
  readonly owner: string;
  readonly atMs: number;
  /** The line in which it waits; see `Line`. */
  readonly line: string;
};

/**
 * What competes for the same room. Ordinary changes wait in the line with the empty name, protective ones in a line of their own, and
 * those that one account without write access causes in one with the digest of that account: it delays itself alone.
 */
export type Line = {
  readonly name: string;
  /** Whether a write of the last hour takes room in this line. */
  readonly counts: (write: Write) => boolean;
};

export const ordinaryLine: Line = { name: '', counts: () => true };
export const protectiveLine: Line = { name: 'protective', counts: () => true };
/** Returns the line of an account without write access. */
export function lineOfAccount(by: string): Line {
  return { name: by, counts: (write) => write.by === by };
}

/** Changes that a run wants to make now. */
type WantedBudget = Budget;

/** An earlier write, as far as budgets count it. */
type Write = { readonly atMs: number; readonly level: string; readonly by?: string | undefined };

/** Room in the hourly budgets of one place, in the order in which runs asked for it. */
export interface Reservations {
  /**
   * Returns how long a run has to wait until its changes fit; 0 where they fit now. Runs that were deferred earlier come
   * first, so that none of them waits for ever behind new ones.
   */
  waitMs(owner: string, wanted: WantedBudget, hour: Budget, line?: Line): number;
  /** Keeps room for a deferred run after that time. A later call of the same owner and line replaces it. */
  reserve(owner: string, wanted: WantedBudget, afterMs: number, line?: Line): void;
  /** Gives up all room that is kept for an owner: its run has begun again. */
  release(owner: string): void;
}

const hourMs = 3_600_000;
/** Room that was not used for so long after its time is no longer kept: its delivery was superseded or is gone. */
export const unusedMs = 900_000;

/** Creates the reservations of a place. `writes` returns what was written within the last hour, the oldest first. */
export function createReservations(options: {
  readonly writes: () => readonly Write[];
  readonly nowMs: () => number;
  /** Returns the reservations, in order of their time. */
  readonly reserved: () => readonly Reservation[];
  /** Replaces them. */
  readonly keep: (reserved: readonly Reservation[]) => void;
}): Reservations {
  const { writes, nowMs, keep } = options;
  const live = (): readonly Reservation[] => {
    const usedUpMs = nowMs() - unusedMs;
    return options.reserved().filter(({ atMs }) => atMs > usedUpMs);
  };

  /** Returns how long changes wait if these reservations come first. */
  const waitBehind = (
    earlier: readonly Reservation[],
    wanted: WantedBudget,
    hour: Budget,
    line: Line,
  ): number => {
    const written = writes().filter(line.counts);
    const now = nowMs();
    const all = roomAtMs(timesOf(written), countsOf(earlier, 'all'), hour.all - wanted.all);
    if (wanted.repository === 0) return Math.max(all - now, 0);
    const ofFiles = written.filter(({ level }) => level === 'repository');
    const left = hour.repository - wanted.repository;
    const repository = roomAtMs(timesOf(ofFiles), countsOf(earlier, 'repository'), left);
    return Math.max(all - now, repository - now, 0);
  };

  return {
    waitMs(owner, wanted, hour, line = ordinaryLine) {
      const now = nowMs();
      const reserved = live().filter((reservation) => reservation.line === line.name);
      const place = reserved.findIndex((reservation) => reservation.owner === owner);
      if (place >= 0) return waitBehind(reserved.slice(0, place), wanted, hour, line);
      // What is written now is no longer counted in an hour: reservations after that take no room from it. They may be many,
      // where files of the repository have a small budget of their own.
      const soon = reserved.filter(({ atMs }) => atMs <= now + hourMs);
      return waitBehind(soon, wanted, hour, line) === 0 ? 0 : waitBehind(reserved, wanted, hour, line);
    },
    reserve(owner, wanted, afterMs, { name } = ordinaryLine) {
      const reservation = { ...wanted, owner, atMs: nowMs() + afterMs, line: name };
      const others = live().filter((one) => one.owner !== owner || one.line !== name);
      keep([...others, reservation].sort((a, b) => a.atMs - b.atMs));
    },
    release(owner) {
      const reserved = options.reserved();
      if (reserved.some((one) => one.owner === owner)) keep(reserved.filter((one) => one.owner !== owner));
    },
  };
}

type Count = { readonly atMs: number; readonly count: number };

function countsOf(reservations: readonly Reservation[], budget: keyof Budget): readonly Count[] {
  return reservations.map((one) => ({ atMs: one.atMs, count: one[budget] }));
}

function timesOf(writes: readonly Write[]): readonly number[] {
  return writes.map(({ atMs }) => atMs);
}

/**
 * Returns the instant from which at most `left` of these writes and reservations are younger than an hour; 0 where that is
 * so already.
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
