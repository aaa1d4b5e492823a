import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Result that a test measured, in words. */
    figure?: string;
  }
}

/**
 * Records what a test measured, such as `0 of 10,000 schedules out of order`. `npm run prove` prints the figure in the
 * row of the promise that the test proves.
 */
export function recordFigure({ task }: Pick<TestContext, 'task'>, figure: string): void {
  task.meta.figure = figure;
}

/**
 * Whether `npm run prove` runs the tests. Some tests are too large for `npm test` but are the only proof of their
 * promise. They then run as well, in the size of `npm run check`.
 */
export const isProving = process.env.PROVE_RESULTS !== undefined;

/**
 * Whether this is a thorough run: `npm run check` or `npm run test:long`, which must pass for every release and every
 * night. `npm test` has two CPU cores and six minutes, so slow tests that repeat the assertions of shorter tests run
 * only in a thorough run.
 */
export const isThorough = Boolean(process.env.CHECK ?? process.env.LONG);

/** Returns the number of runs of a property: `count` in a thorough run, a third of it in `npm test`. */
export const propertyRuns = (count: number): number => (isThorough ? count : Math.ceil(count / 3));
