import type { FactRequest } from '../facts/fact.ts';
import type { Knowledge } from './knowledge.ts';
import type { Finding } from './verdict.ts';

/** One condition, checked and ready to be asked any number of times. */
export type Condition = {
  readonly source: string;
  /** The facts that it names; ask them before `evaluate`. */
  readonly facts: readonly FactRequest[];
  /** Returns the answer with its evidence. Never throws. */
  readonly evaluate: (knowledge: Knowledge) => Answer;
};

/** `error` where it could not be known; `cause` then says why, and whether a later attempt may help. */
export type Answer = {
  readonly result: 'held' | 'not' | 'error';
  readonly findings: readonly Finding[];
  readonly reason?: string;
  readonly cause?: Error;
};
