import type { BenchRow } from './row.ts';

/** A row whose ratio is worse than before. */
export type WorseRow = { readonly name: string; readonly before: number; readonly now: number };

/** By how much a ratio may get worse: neighbours of a machine cost some percent. */
const tolerance = 0.1;

/**
 * Returns the rows whose ratio got more than a tenth worse. Rows without a ratio depend on the machine, and new rows have nothing
 * to compare with.
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

/** Returns of each row the better one of two measurements. */
export function betterOf(rows: readonly BenchRow[], again: readonly BenchRow[]): readonly BenchRow[] {
  const seconds = new Map(again.map((row) => [keyOf(row), row]));
  return rows.map((row) => {
    const second = seconds.get(keyOf(row));
    if (second === undefined || row.ratio === null || second.ratio === null) return row;
    return second.ratio > row.ratio === isMoreBetter(row) ? second : row;
  });
}

// One name may stand in several rows, measured against different things, whose own figures follow a colon.
const keyOf = ({ name, target, against }: BenchRow): string => `${name} ${target} ${against.split(':')[0]}`;

const isMoreBetter = ({ target, unit }: BenchRow): boolean =>
  target.startsWith('>=') || (target === '–' && unit.endsWith('/s'));
