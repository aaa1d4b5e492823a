/** One leaf condition of a rule with the values it saw. */
export type Finding = {
  readonly expression: string;
  readonly result: 'held' | 'not' | 'error' | 'unevaluated';
  /** Member chain or fact as written → the value seen, cut for reading. Where the result is `error`, `error` says why. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/** Why a rule was not considered: its kind, a filter of `on`, its `in`, its powers, our own event, or an event found by catching up. */
export type SkipReason = 'kind' | 'filter' | 'scope' | 'grant' | 'own' | 'not recoverable';

/** A rule's answer, with its evidence. */
export type Verdict = {
  readonly rule: string;
  readonly source: string;
  /** The commit the rule file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  readonly line: number;
  readonly verdict: 'matched' | 'unmatched' | 'failed' | 'skipped';
  /** For `skipped` a SkipReason; for `failed` what could not be known. */
  readonly reason?: string;
  readonly findings: readonly Finding[];
};
