/** One leaf condition of a rule with the values it saw. */
export type Evidence = {
  readonly expression: string;
  readonly result: 'held' | 'not' | 'error' | 'unevaluated';
  /** Member chain or fact as written → the value seen, cut for reading. Where the result is `error`, `error` says why. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};
