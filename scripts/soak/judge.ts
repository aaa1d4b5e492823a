import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from '../harness/sender.ts';
import type { ProbeSample } from './probe.ts';

/** Record of a soak. */
export type SoakRecord = {
  readonly minutes: number;
  readonly perSecond: number;
  readonly samples: readonly Sample[];
  readonly answers: readonly number[];
  readonly acknowledged: number;
  /** Kinds of deliveries with an unexpected status, and how often. */
  readonly unexpected: readonly (readonly [string, number])[];
  /** Acknowledged deliveries that the store never had. */
  readonly lost: number;
  /** Deliveries that still wait at the end, or that were given up. */
  readonly unfinished: number;
  readonly dead: number;
  readonly edits: number;
  /** Issues whose labels do not match their title. */
  readonly wrong: number;
  readonly effectMs: readonly number[];
  readonly restarts: number;
  /** Idle file descriptors before and after; undefined if the system does not show them. */
  readonly descriptors: readonly [number, number] | undefined;
  /**
   * Days by which the clock of the store was set ahead, and the age of the oldest settled delivery at the end; 0 if the
   * clock was not moved.
   */
  readonly days: number;
  readonly oldestDays: number;
};

/** Measured value. `ok` is undefined if there is no target. */
export type SoakRow = {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  readonly ok?: boolean;
};

/** Age at which settled deliveries are deleted in a soak, and the maximum delay of the daily housekeeping. */
export const retentionDays = 10;
export const oldestAllowedDays = retentionDays + 2;

const mib = 2 ** 20;
const maxLogBytes = 64 * mib;
const maxPerHour = mib;
/** Growth that an allocator and a compiler cause without a leak, in a run that is too short to tell the difference. */
const noiseBytes = { heap: 4 * mib, resident: 12 * mib };
const shortHours = 0.25;

/** Returns the measurements with verdicts. Memory is judged over the second half; the first half is the warm-up. */
export function judgeSoak(record: SoakRecord): readonly SoakRow[] {
  const { samples } = record;
  const later = samples.slice(Math.floor(samples.length / 2));
  const hours = ((later.at(-1)?.atMs ?? 0) - (later[0]?.atMs ?? 0)) / 3_600_000;
  const most = (key: 'delayMs' | 'descriptors' | 'logBytes' | 'waiting'): number =>
    Math.max(0, ...samples.map((sample) => sample[key]));
  const memory = (name: string, kind: keyof typeof noiseBytes, bytesOf: BytesOf): SoakRow => ({
    name,
    value: growthOf(later, bytesOf),
    target: '< 1 MiB/h',
    ok:
      pointsOf(samples, bytesOf).length >= 6 &&
      isFlat(trendOf(pointsOf(later, bytesOf)), hours, noiseBytes[kind]),
  });
  const { descriptors, effectMs, answers } = record;
  return [
    {
      name: 'deliveries acknowledged',
      value: `${count(record.acknowledged)} in ${record.minutes.toFixed(1)} min, ${Math.round(record.perSecond)}/s`,
      target: '',
    },
    row('acknowledged and lost, unfinished, dead', [record.lost, record.unfinished, record.dead]),
    {
      name: 'answers other than those that are due',
      value: record.unexpected.map(([name, times]) => `${name}: ${times}`).join(', ') || '0',
      target: '0',
      ok: record.unexpected.length === 0,
    },
    row(`issues with wrong labels after ${count(record.edits)} edits`, [record.wrong]),
    memory('heap in use after collection', 'heap', ({ heapBytes }) => heapBytes),
    memory('resident memory without free pages of the heap', 'resident', ({ used }) => used?.rssBytes),
    { name: 'resident memory without free pages of the heap, by part', value: partsOf(later), target: '' },
    { name: 'resident memory as it is', value: growthOf(later, ({ rssBytes }) => rssBytes), target: '' },
    descriptors === undefined
      ? { name: 'open descriptors at rest', value: 'the system does not show them', target: '' }
      : {
          name: 'open descriptors at rest, before and after',
          value: `${descriptors.join(' and ')}, at most ${most('descriptors')}`,
          target: '0 gained',
          ok: descriptors[1] <= descriptors[0],
        },
    {
      name: 'write-ahead log, largest',
      value: inMib(most('logBytes')),
      target: '< 64 MiB',
      ok: most('logBytes') < maxLogBytes,
    },
    record.days === 0
      ? { name: 'retention', value: 'not judged: the clock of the store was not moved', target: '' }
      : {
          name: `age of the oldest settled delivery, ${record.days} days later`,
          value: `${record.oldestDays.toFixed(1)} days`,
          target: `<= ${oldestAllowedDays} days`,
          ok: record.days > retentionDays && record.oldestDays <= oldestAllowedDays,
        },
    { name: 'database, half way and at the end', value: databaseOf(samples), target: '' },
    {
      name: 'answers to deliveries, p99 and slowest',
      value: `${ms(percentileIn(answers, 0.99))}, ${ms(percentileIn(answers, 1))}`,
      target: '< 5 s',
      ok: percentileIn(answers, 1) < 5_000,
    },
    {
      name: `from an edit to its label, median and slowest, with ${record.restarts} restarts of the forge`,
      value: `${ms(percentileIn(effectMs, 0.5))}, ${ms(percentileIn(effectMs, 1))}`,
      target: '',
    },
    {
      name: 'event loop held up, longest',
      value: `${ms(most('delayMs'))}; deliveries waiting: at most ${count(most('waiting'))}`,
      target: '',
    },
  ];
}

/** Reads a kind of memory, in bytes; undefined if the sample does not have it. */
type BytesOf = (sample: Sample) => number | undefined;

function pointsOf(samples: readonly Sample[], bytesOf: BytesOf): { atMs: number; value: number }[] {
  return samples.flatMap((sample) => {
    const value = bytesOf(sample);
    return value === undefined ? [] : [{ atMs: sample.atMs, value }];
  });
}

/** Describes how a kind of memory grows, and its amount at the end. */
function growthOf(samples: readonly Sample[], bytesOf: BytesOf): string {
  const points = pointsOf(samples, bytesOf);
  const { perHour, errorPerHour } = trendOf(points);
  return `${signed(perHour / mib)} ± ${((2 * errorPerHour) / mib).toFixed(1)} MiB/h at ${inMib(points.at(-1)?.value ?? 0)}`;
}

/** Describes which part of the resident memory grows, to show where to look if the sum grows. */
function partsOf(samples: readonly Sample[]): string {
  const perHour = (bytesOf: BytesOf): string => signed(trendOf(pointsOf(samples, bytesOf)).perHour / mib);
  const restOf = ({ used, mappedBytes }: Sample): number | undefined =>
    used && used.rssBytes - used.committedBytes - used.externalBytes - mappedBytes;
  return [
    `heap ${perHour(({ used }) => used?.committedBytes)}`,
    `buffers and libraries ${perHour(({ used }) => used?.externalBytes)}`,
    `mapped files ${perHour(({ mappedBytes }) => mappedBytes)}`,
    `the rest ${perHour(restOf)} MiB/h`,
  ].join(', ');
}

/**
 * Returns whether memory grows no faster than permitted. A short run cannot tell, and passes if the growth is within
 * the noise.
 */
function isFlat({ perHour, errorPerHour }: Trend, hours: number, noise: number): boolean {
  const isSlow = perHour - 2 * errorPerHour < maxPerHour;
  return isSlow || (hours < shortHours && perHour * hours < noise);
}

function row(name: string, counts: readonly number[]): SoakRow {
  return { name, value: counts.map(count).join(', '), target: '0', ok: counts.every((one) => one === 0) };
}

function databaseOf(samples: readonly Sample[]): string {
  return [samples[Math.floor(samples.length / 2)], samples.at(-1)]
    .map((sample) => inMib(sample?.databaseBytes ?? 0))
    .join(', ');
}

const percentileIn = (values: readonly number[], share: number): number => percentile(values, share) || 0;
const count = (value: number): string => value.toLocaleString('en');
const inMib = (bytes: number): string => `${(bytes / mib).toFixed(1)} MiB`;
const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
const ms = (value: number): string =>
  value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;

export type Sample = ProbeSample & {
  readonly atMs: number;
  /** The same after V8 has returned the free pages of its heap to the system; for one sample per minute. */
  readonly used?: ProbeSample | undefined;
  /** Resident pages of files, such as the program itself, as far as the system shows them. */
  readonly mappedBytes: number;
  readonly descriptors: number;
  readonly databaseBytes: number;
  readonly logBytes: number;
  /** Deliveries that wait or are in progress. */
  readonly waiting: number;
};

/** Returns the targets of the open descriptors of a process; undefined if the system does not show them. */
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

/** Least-squares line through points. */
type Trend = { readonly perHour: number; readonly errorPerHour: number };

/**
 * Returns the growth of a value per hour, and its standard error: the true value is within twice the error on each side
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
