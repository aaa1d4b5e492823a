import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What the test measured, in words. */
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
 * Whether `npm run prove` runs the tests: some whose size `npm test` cannot afford are the only ones of their promise, and run then,
 * too, in the size of `npm run check`.
 */
export const isProving = process.env.PROVE_RESULTS !== undefined;

/**
 * Whether this run is a thorough one: `npm run check` and `npm run test:long`, which every release and every night pass.
 * `npm test` has two processor cores and six minutes: what takes long there, and repeats what shorter tests assert, waits for these.
 */
export const isThorough = Boolean(process.env.CHECK ?? process.env.LONG);

/** Returns how often a property is tried: a thorough run tries it `count` times, `npm test` a third as often. */
export const propertyRuns = (count: number): number => (isThorough ? count : Math.ceil(count / 3));
