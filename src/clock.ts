/** The wall clock: what time it is. It may be set, wrong at boot, or corrected by hours. */
export interface Clock {
  now(): Date;
}

/** A difference between the clocks beyond which the wall clock was set, rather than corrected a little. */
const jumpMs = 60_000;
/** Time for which a new wall time has to last before it is believed. */
const believedAfterMs = 3_600_000;

/**
 * Creates a wall clock for decisions that cannot be taken back, such as giving work up for its age. It goes on steadily
 * when the wall clock jumps, and follows it once the new time has lasted for an hour: a clock that was set by mistake and
 * set back makes nothing old. `nowMs` is a clock that never goes back; `onJump` is called once for each jump.
 */
export function createSteadyClock(options: {
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly onJump?: (byMs: number) => void;
}): Clock {
  const { clock, nowMs, onJump } = options;
  let agreed = { wallMs: clock.now().getTime(), atMs: nowMs() };
  let jump: { readonly byMs: number; readonly atMs: number } | undefined;
  return {
    now() {
      const wallMs = clock.now().getTime();
      const atMs = nowMs();
      const expectedMs = agreed.wallMs + (atMs - agreed.atMs);
      const byMs = wallMs - expectedMs;
      const isJump = Math.abs(byMs) > jumpMs;
      if (isJump && (jump === undefined || Math.abs(byMs - jump.byMs) > jumpMs)) {
        jump = { byMs, atMs };
        onJump?.(byMs);
      }
      if (isJump && jump !== undefined && atMs - jump.atMs < believedAfterMs) return new Date(expectedMs);
      agreed = { wallMs, atMs };
      jump = undefined;
      return new Date(wallMs);
    },
  };
}
