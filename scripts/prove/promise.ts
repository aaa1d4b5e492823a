/** Promise of docs/reliability.md, with its proofs. */
export type ReliabilityPromise = {
  /** `P1` to `P40`. */
  readonly id: string;
  /** Text of the promise, in one sentence. */
  readonly promise: string;
  /** Value that the figure must reach, for a run with `--quick` and for a full one. */
  readonly target: { readonly quick: string; readonly full: string };
  /** Proofs, all of which must hold. */
  readonly proofs: readonly Proof[];
  /** Names in `test/twins`: builds that break the promise, and that the tests detect. */
  readonly twins: readonly string[];
};

/** Tests, or a drill: a measurement with separate processes. */
export type Proof = TestProof | DrillProof;

/** The tests of a file, or those whose full name matches `titled`. At least one of them must run and pass. */
export type TestProof = { readonly file: string; readonly titled?: RegExp };

export type DrillProof = {
  /** Returns the module: drills load what they need only when they run. */
  readonly drill: () => globalThis.Promise<{ readonly drill: Drill }>;
};

/**
 * Function that a file of `scripts/prove/drills/` exports as `drill`. It cleans up after itself, even after `signal`.
 */
export type Drill = (options: DrillOptions) => globalThis.Promise<DrillResult>;

export type DrillOptions = {
  /** At most a minute; otherwise as long as the figure needs. */
  readonly isQuick: boolean;
  readonly signal: AbortSignal;
};

/** `skipped`: why this machine cannot run it. */
export type DrillResult =
  | { readonly figure: string; readonly isKept: boolean }
  | { readonly skipped: string };

/** Result of a row. `broken`: a proof failed, or proved nothing. */
export type Verdict = 'ok' | 'skipped' | 'broken';

export type Row = {
  readonly id: string;
  readonly promise: string;
  readonly target: string;
  readonly figure: string;
  readonly verdict: Verdict;
};
