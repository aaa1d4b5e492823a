import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProbeSample } from './probe.ts';

export type Sample = ProbeSample & {
  readonly atMs: number;
  /** The same once V8 has returned the free pages of its heap to the system; of one sample in a minute. */
  readonly used?: ProbeSample | undefined;
  /** The resident pages of files, such as the program itself, as far as the system shows them. */
  readonly mappedBytes: number;
  readonly descriptors: number;
  readonly databaseBytes: number;
  readonly logBytes: number;
  /** Deliveries that wait or are in progress. */
  readonly waiting: number;
};

/** Returns the descriptors that a process has open, by what they lead to; undefined where the system shows none. */
export function descriptorsOf(pid: number | undefined): readonly string[] | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((name) => {
      try {
        return readlinkSync(join(folder, name)).replace(/:\[\d+\]$/, '');
      } catch {
        // Closed meanwhile.
        return [];
      }
    });
  } catch {
    return undefined;
  }
}

/** Returns the sizes of a store and of its log. */
export function sizesOf(data: string): { readonly databaseBytes: number; readonly logBytes: number } {
  const sizeOf = (name: string): number => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0;
  return { databaseBytes: sizeOf('reeve.db'), logBytes: sizeOf('reeve.db-wal') };
}

/** A line through points, by least squares. */
export type Trend = { readonly perHour: number; readonly errorPerHour: number };

/**
 * Returns how a value grows in an hour, and the standard error of that: twice the error on each side is where the true value is
 * with a probability of 95 %, as far as the points are independent.
 */
export function trendOf(points: readonly { readonly atMs: number; readonly value: number }[]): Trend {
  const count = points.length;
  if (count < 3) return { perHour: 0, errorPerHour: Number.POSITIVE_INFINITY };
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / count;
  const atMean = mean(points.map(({ atMs }) => atMs));
  const valueMean = mean(points.map(({ value }) => value));
  const spread = points.reduce((sum, { atMs }) => sum + (atMs - atMean) ** 2, 0);
  const slope =
    points.reduce((sum, { atMs, value }) => sum + (atMs - atMean) * (value - valueMean), 0) / spread;
  const rest = points.reduce(
    (sum, { atMs, value }) => sum + (value - valueMean - slope * (atMs - atMean)) ** 2,
    0,
  );
  const hourMs = 3_600_000;
  return { perHour: slope * hourMs, errorPerHour: Math.sqrt(rest / (count - 2) / spread) * hourMs };
}

/** Returns the value below which that share of the values is. */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
