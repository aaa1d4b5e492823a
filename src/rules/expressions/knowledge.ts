import type { Fact, FactRequest } from '../../facts/fact.ts';
import type { Type } from './values/types.ts';

/** What is known of one name: its value, or why it cannot be known. */
export type Known = { readonly value: unknown } | { readonly error: Error };

/** Answers the names of an expression. An absent answer means that the name does not apply here (no `event` on a clock). */
export interface Knowledge {
  find(request: FactRequest): Known | undefined;
}

/** One leaf condition of a rule with the values it saw. */
export type Evidence = {
  readonly expression: string;
  readonly result: 'held' | 'not' | 'error' | 'unevaluated';
  /** Member chain or fact as written → the value seen, cut for reading. Where the result is `error`, `error` says why. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

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
