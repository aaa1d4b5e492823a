import type { Meter } from '../../../patterns/meter.ts';

/** The state of one passage through an expression: values by the places that the expression gave them, and the meter. */
export type Frame = {
  /** Names and facts first, then the variables of loops; undefined where there is no such value. */
  readonly slots: unknown[];
  readonly meter: Meter;
};

/** One part of an expression, ready to run: returns its value, or a Failure. */
export type Evaluate = (frame: Frame) => unknown;
