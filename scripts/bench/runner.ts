import { type Workspace, withWorkspace } from '../harness/workspace.ts';
import { type Child, type Start, startChild } from './process.ts';

/** One line of the report. */
export type BenchRow = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is compared with in the same run, or additional information; empty if there is neither. */
  readonly against: string;
  /** The value divided by the one it is compared with; null if there is no comparison. */
  readonly ratio: number | null;
  /** Target, as text: `>= 0.9 x`, `<= 20 ms`. */
  readonly target: string;
  readonly ok: boolean;
};

/** Function that a file of `scripts/bench/` exports as `measure`. `quick`: all files together take a few minutes. */
export type Measure = (options: { readonly quick: boolean }) => Promise<readonly BenchRow[]>;

/** Returns a row. The rounded figures decide whether the target is reached, unless `ok` is given. */
export function benchRow(row: {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly against?: string;
  readonly ratio?: number | undefined;
  /** Default: no target. */
  readonly target?: string;
  readonly ok?: boolean;
}): BenchRow {
  const { name, unit, against = '', target = '–' } = row;
  const value = Number.isInteger(row.value) ? row.value : round(row.value);
  const ratio = row.ratio === undefined ? null : round(row.ratio);
  return { name, value, unit, against, ratio, target, ok: row.ok ?? isReached(target, value, ratio) };
}

/**
 * Returns whether a target is reached. `0` and `<= 20 ms` apply to the value, `>= 0.9 x` to the ratio; ` and ` combines
 * several targets.
 */
function isReached(target: string, value: number, ratio: number | null): boolean {
  if (target === '–') return true;
  return target.split(' and ').every((part) => {
    const [, sign, limit, times] = /^([<>]=|) ?([\d.]+)( x)?/.exec(part) ?? [];
    const measured = times === undefined ? value : (ratio ?? Number.NaN);
    if (sign === '<=') return measured <= Number(limit);
    return sign === '>=' ? measured >= Number(limit) : measured === Number(limit);
  });
}

/** Returns the median, so that a single round disturbed by other load does not decide. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Returns the number rounded to three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** Converts bytes to whole megabytes. */
export function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** Results of contenders in the rounds of a measurement. */
export class Rounds<Name, Result> {
  readonly #results = new Map<Name, Result[]>();

  add(name: Name, result: Result): void {
    const known = this.#results.get(name) ?? [];
    this.#results.set(name, [...known, result]);
  }

  of(name: Name): readonly Result[] {
    return this.#results.get(name) ?? [];
  }

  median(name: Name, read: (result: Result) => number): number {
    return median(this.of(name).map(read));
  }

  /**
   * Returns one contender ÷ another, calculated per round, because consecutive measurements are affected by the same
   * load of the machine.
   */
  ratio(name: Name, other: Name, read: (result: Result) => number): number {
    const beside = this.of(other).map(read);
    return median(this.of(name).map((result, at) => read(result) / (beside[at] ?? Number.NaN)));
  }
}

/** Measures each contender once in each round. The first `warmUps` rounds are not counted. */
export async function inTurns<Name, Result>(
  names: Iterable<Name>,
  { rounds, warmUps = 1 }: { readonly rounds: number; readonly warmUps?: number },
  measureOne: (name: Name) => Promise<Result>,
): Promise<Rounds<Name, Result>> {
  const all = [...names];
  const found = new Rounds<Name, Result>();
  for (let at = -warmUps; at < rounds; at += 1) {
    for (const name of all) {
      const result = await measureOne(name);
      if (at >= 0) found.add(name, result);
    }
  }
  return found;
}

/** Folder and processes that exist until the end of the measurement. */
export type Stage = Workspace & {
  readonly start: <Ready>(
    script: string | URL,
    args?: readonly string[],
    start?: Start,
  ) => Promise<{ readonly child: Child; readonly ready: Ready }>;
};

/** Returns the result of a measurement, once its processes have ended and its folder is deleted. */
export function onStage<Result>(measureThere: (stage: Stage) => Promise<Result>): Promise<Result> {
  return withWorkspace('bench', (workspace) =>
    measureThere({
      ...workspace,
      async start<Ready>(script: string | URL, args?: readonly string[], start?: Start) {
        const started = await startChild<Ready>(script, args, start);
        workspace.defer(started.child.stop);
        return started;
      },
    }),
  );
}

/** A row whose ratio is worse than before. */
type WorseRow = { readonly name: string; readonly before: number; readonly now: number };

/** Share by which a ratio may get worse: other load of the machine costs a few percent. */
const tolerance = 0.1;

/**
 * Returns the rows whose ratio has become more than a tenth worse. Rows without a ratio depend on the machine, and new
 * rows have no earlier value.
 */
export function findWorse(rows: readonly BenchRow[], before: readonly BenchRow[]): readonly WorseRow[] {
  const ratios = new Map(before.map((row) => [keyOf(row), row.ratio]));
  return rows.flatMap((row) => {
    const [now, then] = [row.ratio, ratios.get(keyOf(row)) ?? null];
    if (now === null || then === null) return [];
    const isWorse = isMoreBetter(row) ? now < then * (1 - tolerance) : now > then * (1 + tolerance);
    return isWorse ? [{ name: row.name, before: then, now }] : [];
  });
}

/** Returns, for each row, the better of two measurements. */
export function betterOf(rows: readonly BenchRow[], again: readonly BenchRow[]): readonly BenchRow[] {
  const seconds = new Map(again.map((row) => [keyOf(row), row]));
  return rows.map((row) => {
    const second = seconds.get(keyOf(row));
    if (second === undefined || row.ratio === null || second.ratio === null) return row;
    return second.ratio > row.ratio === isMoreBetter(row) ? second : row;
  });
}

// Rows with the same name differ in what they are compared with, whose figures follow a colon.
const keyOf = ({ name, target, against }: BenchRow): string => `${name} ${target} ${against.split(':')[0]}`;

const isMoreBetter = ({ target, unit }: BenchRow): boolean =>
  target.startsWith('>=') || (target === '–' && unit.endsWith('/s'));
