const dayMs = 86_400_000;

/** How long ended deliveries are kept with their runs, and how large the store may grow. */
export type Retention = {
  /** Since they were settled; runs of sweeps, since they started. */
  readonly settledMs: number;
  /** Since they died. */
  readonly deadMs: number;
  /** Beyond this the oldest are deleted whatever their age: settled ones first, then dead ones. */
  readonly maxBytes: number;
};

export const standardRetention: Retention = {
  settledMs: 30 * dayMs,
  deadMs: 90 * dayMs,
  maxBytes: 5 * 2 ** 30,
};
