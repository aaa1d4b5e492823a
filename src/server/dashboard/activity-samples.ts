import type { Sample, SamplePoint } from '../../store/samples.ts';

/** A time range of the charts: its length, and the width of its stored spans. */
export type ChartStretch = {
  readonly name: 'day' | 'week' | 'month';
  readonly words: string;
  readonly hours: number;
  /** Width of a span, in minutes. */
  readonly minutes: number;
  /** Spans per mark of a chart. */
  readonly perMark: number;
  /** Marks per row of the table. */
  readonly perRow: number;
};

/**
 * The time ranges. Each has its own spans, so that a chart reads at most a few hundred, independent of the size of the
 * store.
 */
export const chartStretches: readonly ChartStretch[] = [
  { name: 'day', words: '24 hours', hours: 24, minutes: 5, perMark: 3, perRow: 4 },
  { name: 'week', words: '7 days', hours: 168, minutes: 60, perMark: 1, perRow: 6 },
  { name: 'month', words: '30 days', hours: 720, minutes: 360, perMark: 1, perRow: 4 },
];

/** The stored samples, and how to merge several values of one span. */
export const sampleMerges = {
  received: 'sum',
  handled: 'sum',
  failed: 'sum',
  'failed in sweeps': 'sum',
  dead: 'sum',
  waiting: 'max',
  oldest: 'max',
  'runners online': 'last',
  'runners busy': 'max',
  'runners offline': 'max',
  drift: 'last',
  corrected: 'sum',
} as const satisfies Record<string, Sample['merge']>;
export type SampleName = keyof typeof sampleMerges;

const latencyPrefix = 'latency ';
/** Steps of the logarithmic scale per doubling, so that values are accurate to about one eighth. */
const stepsPerDoubling = 3;

/** Returns the sample name for durations of this length. */
export function latencyName(ms: number): string {
  return `${latencyPrefix}${Math.round(Math.log2(Math.max(ms, 1)) * stepsPerDoubling)}`;
}

/** Returns the duration in milliseconds for a sample name; undefined for other names. */
function latencyOf(name: string): number | undefined {
  if (!name.startsWith(latencyPrefix)) return undefined;
  const step = Number(name.slice(latencyPrefix.length));
  return Number.isFinite(step) ? 2 ** (step / stepsPerDoubling) : undefined;
}

/** Returns the start of the span that contains an instant. */
export function sampleSpanOf(at: Date, minutes: number): Date {
  const widthMs = minutes * 60_000;
  return new Date(Math.floor(at.getTime() / widthMs) * widthMs);
}

/** One mark of a chart: the merged values of its spans. A value without samples is absent. */
export type ChartMark = {
  readonly at: Date;
  readonly values: Partial<Record<SampleName, number>>;
  /** Latency of handled deliveries, in milliseconds. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
};

/** Groups samples into marks of equal width; the last mark contains the current time. */
export function marksOf(
  points: readonly SamplePoint[],
  { hours, minutes, perMark }: ChartStretch,
  now: Date,
): readonly ChartMark[] {
  const width = minutes * perMark;
  const last = sampleSpanOf(now, width).getTime();
  const count = Math.round((hours * 60) / width);
  const first = last - (count - 1) * width * 60_000;
  const groups = Array.from({ length: count }, (): SamplePoint[] => []);
  for (const point of points)
    groups[Math.floor((point.at.getTime() - first) / (width * 60_000))]?.push(point);
  return groups.map((group, index) => markOf(new Date(first + index * width * 60_000), group));
}

function markOf(at: Date, points: readonly SamplePoint[]): ChartMark {
  const values: Partial<Record<SampleName, number>> = {};
  const latencies = new Map<number, number>();
  for (const { name, amount } of points) {
    const ms = latencyOf(name);
    if (ms !== undefined) latencies.set(ms, (latencies.get(ms) ?? 0) + amount);
    else if (isSampleName(name)) values[name] = merged(sampleMerges[name], values[name], amount);
  }
  const sorted = [...latencies].sort(([a], [b]) => a - b);
  return { at, values, p50: quantileOf(sorted, 0.5), p95: quantileOf(sorted, 0.95) };
}

function isSampleName(name: string): name is SampleName {
  return Object.hasOwn(sampleMerges, name);
}

function merged(merge: Sample['merge'], before: number | undefined, amount: number): number {
  if (before === undefined || merge === 'last') return amount;
  return merge === 'sum' ? before + amount : Math.max(before, amount);
}

/** Returns a quantile of durations from their counts in ascending order. */
function quantileOf(
  counts: readonly (readonly [ms: number, count: number])[],
  part: number,
): number | undefined {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [ms, count] of counts) {
    seen += count;
    if (seen >= total * part) return ms;
  }
  return undefined;
}

/** Merges several marks. Each quantile is the maximum over the marks. */
export function joinMarks(marks: readonly ChartMark[]): ChartMark {
  const values: Partial<Record<SampleName, number>> = {};
  for (const mark of marks)
    for (const [name, amount] of Object.entries(mark.values))
      if (isSampleName(name)) values[name] = merged(sampleMerges[name], values[name], amount);
  const greatest = (found: readonly (number | undefined)[]): number | undefined => {
    const known = found.filter((one) => one !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  return {
    at: marks[0]?.at ?? new Date(0),
    values,
    p50: greatest(marks.map(({ p50 }) => p50)),
    p95: greatest(marks.map(({ p95 }) => p95)),
  };
}
