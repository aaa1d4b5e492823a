/** One line of the report. */
export type BenchRow = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is measured against in the same run, or what is worth knowing beside it; empty for neither. */
  readonly against: string;
  /** value ÷ what it is measured against; null where the value stands alone. */
  readonly ratio: number | null;
  /** What is to be reached, as written: `>= 0.9 x`, `<= 20 ms`. */
  readonly target: string;
  readonly ok: boolean;
};

/** What a file of `scripts/bench/` exports as `measure`. `quick`: all files together stay within 100 s. */
export type Measure = (options: { readonly quick: boolean }) => Promise<readonly BenchRow[]>;

/** Returns the middle value: one round beside a noisy neighbour must not decide. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Returns the number with three digits that mean something. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
