/** One promise of docs/reliability.md, with everything that proves it. */
export type ReliabilityPromise = {
  /** `P1` to `P40`. */
  readonly id: string;
  /** What is promised, in one sentence. */
  readonly promise: string;
  /** What the figure has to reach, for a run with `--quick` and for a full one. */
  readonly target: { readonly quick: string; readonly full: string };
  /** All of them have to hold. */
  readonly proofs: readonly Proof[];
  /** Names in `test/twins`: builds that break the promise, and that the tests detect. */
  readonly twins: readonly string[];
};

/** Tests, or a drill: a measurement with processes of its own. */
export type Proof = TestProof | DrillProof;

/** The tests of a file, or those whose full name matches `titled`. At least one of them has to run and pass. */
export type TestProof = { readonly file: string; readonly titled?: RegExp };

export type DrillProof = {
  /** Returns the module: drills load what they need only when they run. */
  readonly drill: () => globalThis.Promise<{ readonly drill: Drill }>;
};

/** What a file of `scripts/prove/drills/` exports as `drill`. It cleans up after itself, also after `signal`. */
export type Drill = (options: DrillOptions) => globalThis.Promise<DrillResult>;

export type DrillOptions = {
  /** A minute at most; otherwise as long as the figure needs. */
  readonly isQuick: boolean;
  readonly signal: AbortSignal;
};

/** `skipped`: why this machine cannot run it. */
export type DrillResult =
  | { readonly figure: string; readonly isKept: boolean }
  | { readonly skipped: string };

/** The result of a row. `broken`: a proof failed, or proved nothing. */
export type Verdict = 'ok' | 'skipped' | 'broken';

export type Row = {
  readonly id: string;
  readonly promise: string;
  readonly target: string;
  readonly figure: string;
  readonly verdict: Verdict;
};
