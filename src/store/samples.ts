import type { Sql } from './sql.ts';

/**
 * A value over a span of time. `minutes` is the width of the span, and `at` its start. `merge` defines how several
 * values of one span are combined: as their sum, the greatest, or the last.
 */
export type Sample = {
  readonly minutes: number;
  readonly at: Date;
  readonly name: string;
  readonly amount: number;
  readonly merge: 'sum' | 'max' | 'last';
};

/** Value of a span, as read from the store. */
export type SamplePoint = { readonly at: Date; readonly name: string; readonly amount: number };

/** The part of the store that keeps sums and levels over time. */
export interface SampleRows {
  /** Merges values into their spans. Any role. */
  addSamples(samples: readonly Sample[]): Promise<void>;
  /**
   * Reads the values of spans of one width that start at or after an instant, in chronological order. At most 50,000.
   */
  readSamples(query: { readonly minutes: number; readonly since: Date }): Promise<readonly SamplePoint[]>;
}

/** Widths of spans, and their retention, which is somewhat longer than the time range of the charts. */
export const sampleWidths = [
  { minutes: 5, keptMs: 2 * 86_400_000 },
  { minutes: 60, keptMs: 9 * 86_400_000 },
  { minutes: 360, keptMs: 40 * 86_400_000 },
] as const;

/** Maximum number of values returned by one call. */
const maxSamplesRead = 50_000;

const mergedAmount: Readonly<Record<Sample['merge'], string>> = {
  sum: 'samples.amount + excluded.amount',
  max: 'CASE WHEN samples.amount < excluded.amount THEN excluded.amount ELSE samples.amount END',
  last: 'excluded.amount',
};

/** Returns the part of the store that keeps sums and levels over time. Several processes may add to the same span. */
export function createSamples(sql: Sql): SampleRows {
  return {
    async addSamples(samples) {
      // Sorted by key, so that two processes that add to the same spans do not deadlock.
      const ordered = samples.toSorted(
        (a, b) => a.minutes - b.minutes || a.at.getTime() - b.at.getTime() || (a.name < b.name ? -1 : 1),
      );
      if (ordered.length === 0) return;
      await sql.batch(
        ordered.map(({ minutes, at, name, amount, merge }) => ({
          sql: `INSERT INTO samples (minutes, at, name, amount) VALUES (?, ?, ?, ?)
                ON CONFLICT (minutes, at, name) DO UPDATE SET amount = ${mergedAmount[merge]}`,
          values: [minutes, sampleSeconds(at), { indexed: name }, Math.round(amount)],
        })),
      );
    },
    async readSamples({ minutes, since }) {
      const rows = await sql.all(
        `SELECT at, name, amount FROM samples WHERE minutes = ? AND at >= ? ORDER BY at, name LIMIT ${maxSamplesRead}`,
        [minutes, sampleSeconds(since)],
      );
      return rows.map(samplePointOf);
    },
  };
}

/** Returns an instant in its stored form. */
export function sampleSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

/** Returns a stored row as a point. */
export function samplePointOf({ at, name, amount }: Readonly<Record<string, unknown>>): SamplePoint {
  return { at: new Date(Number(at) * 1_000), name: String(name), amount: Number(amount) };
}
