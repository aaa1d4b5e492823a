import type { Meter } from '../../../patterns/meter.ts';
import type { Type } from '../values/types.ts';

/** What a literal argument is beyond text: it is compiled or checked when the file is loaded. */
export type LiteralUse = 'glob' | 'pattern' | 'timezone' | 'moment';

/**
 * One function that expressions may call. The list is closed: what the CEL library learns in a later version stays out
 * until it stands here.
 */
export type FunctionRow = {
  readonly name: string;
  /** Kinds of what stands before the dot; absent for `size(x)`. */
  readonly of?: readonly Type['kind'][];
  /** Kinds of each argument. */
  readonly takes: readonly (readonly Type['kind'][])[];
  /** The last argument may be given several times. */
  readonly repeats?: true;
  readonly gives: Type;
  /** Returns a more precise type of the result, from the types of what stands before the dot and of the arguments. */
  readonly givesFor?: (types: readonly Type[]) => Type;
  readonly meaning: string;
  /** The first argument must be a literal where this says `glob`, `pattern` or `timezone`. */
  readonly literal?: LiteralUse;
  /** Not inside of loops: its cost or its result grows with every item. */
  readonly outsideLoops?: true;
  /**
   * Returns the result, or a Failure. The values are what stands before the dot, then the arguments, each of a kind that
   * the row takes. What the work costs beyond the call is charged before it is done. A row whose literal is a pattern is
   * run by the matcher that was made of the pattern.
   */
  readonly run: RunFunction;
  /** Returns what runs the row with this literal as its argument, where something can be made ready once. */
  readonly bind?: (literal: string) => RunFunction;
};

/** Returns whether a row may be called with this number of arguments. */
export function takesCount({ takes, repeats }: FunctionRow, count: number): boolean {
  return repeats ? count >= takes.length : count === takes.length;
}

/** Returns the kinds that the row takes at each of `count` arguments. */
export function kindsTaken({ takes, repeats }: FunctionRow, count: number): FunctionRow['takes'] {
  const last = takes.at(-1);
  if (!repeats || last === undefined) return takes;
  return [...takes, ...Array.from({ length: count - takes.length }, () => last)];
}

export type RunFunction = (values: readonly unknown[], meter: Meter) => unknown;
