/** Raised for a glob that is broken or that nothing could ever match. `reason` continues the sentence `"PATTERN" …`. */
export class GlobError extends Error {
  readonly pattern: string;
  readonly reason: string;
  /** Where in the pattern, counted from 0. */
  readonly offset: number;

  constructor(pattern: string, reason: string, offset = 0) {
    super(`the pattern "${pattern}" ${reason}`);
    this.name = 'GlobError';
    this.pattern = pattern;
    this.reason = reason;
    this.offset = offset;
  }
}
