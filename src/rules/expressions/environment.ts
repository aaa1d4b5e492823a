import type { Fact } from '../../facts/fact.ts';
import type { Type } from './values/types.ts';

/** What an expression may say under one name. */
export type Name = {
  readonly type: Type;
  /** The fact to ask; absent for what the run is given. */
  readonly fact?: Fact;
  /** Occasions that do not have it, in words; empty where all do. */
  readonly missingOn: readonly string[];
  /** The item of the rule on every occasion; it is never null. */
  readonly isItem?: true;
  /** Why a file of this origin may not use it. */
  readonly refusal?: string;
  /** Returns why a file of this origin may not use it with a literal argument. */
  readonly refuseArgument?: (argument: string) => string | undefined;
};

/** The names that the expressions of a rule may use, over everything it listens to. */
export type ExpressionEnvironment = {
  readonly names: ReadonlyMap<string, Name>;
  /** Names that exist, but on none of the occasions: why. */
  readonly absent: ReadonlyMap<string, string>;
};
