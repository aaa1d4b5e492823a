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
