import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Measured result, in words. */
    figure?: string;
  }
}

/**
 * Records what a test measured, for instance `0 of 10,000 schedules out of order`. `npm run prove` prints it in the row of the
 * promise that the test proves.
 */
export function recordFigure({ task }: Pick<TestContext, 'task'>, figure: string): void {
  task.meta.figure = figure;
}

/**
 * Whether `npm run prove` runs the tests. Some tests that are too large for `npm test` are the only proof of their
 * promise; they then run too, in the size of `npm run check`.
 */
export const isProving = process.env.PROVE_RESULTS !== undefined;

/**
 * Whether this is a thorough run: `npm run check` or `npm run test:long`, which every release and every night must
 * pass. `npm test` has two CPU cores and six minutes, so slow tests that repeat the assertions of shorter tests run
 * only in a thorough run.
 */
export const isThorough = Boolean(process.env.CHECK ?? process.env.LONG);

/** Returns the number of runs of a property: `count` in a thorough run, a third of it in `npm test`. */
export const propertyRuns = (count: number): number => (isThorough ? count : Math.ceil(count / 3));
