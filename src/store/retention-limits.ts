const dayMs = 86_400_000;

/** Retention of ended deliveries and their runs, and the size limit of the store. */
export type Retention = {
  /** For settled deliveries, since they were settled; for runs of sweeps, since they started. */
  readonly settledMs: number;
  /** For dead deliveries, since they died. */
  readonly deadMs: number;
  /** Above this size the oldest are deleted whatever their age: settled ones first, then dead ones. */
  readonly maxBytes: number;
};

export const standardRetention: Retention = {
  settledMs: 30 * dayMs,
  deadMs: 90 * dayMs,
  maxBytes: 5 * 2 ** 30,
};
