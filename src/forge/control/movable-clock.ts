/** A clock that goes on by itself and can be put forward or back. */
export interface MovableClock {
  readonly now: () => Date;
  /** Makes it this instant now; it goes on from there. */
  set(to: Date): void;
}

/** Creates a clock that shows what the given one shows until it is set. */
export function createMovableClock(clock: () => Date): MovableClock {
  let offsetMs = 0;
  return {
    now: () => new Date(clock().getTime() + offsetMs),
    set(to) {
      offsetMs = to.getTime() - clock().getTime();
    },
  };
}
