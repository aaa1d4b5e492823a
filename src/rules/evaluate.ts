import type { Event } from '../contract/events.ts';
import { ReeveError } from '../errors.ts';
import type { Facts } from '../facts/fact.ts';
import type { LoadedRule, LoadedStep } from './rule.ts';
import type { Verdict } from './verdict.ts';

/** What a rule is held against. */
export type Situation = {
  readonly facts: Facts;
  /** The event; absent where a clock or a person started the run. */
  readonly event?: Event;
  /** The item of `each`, by the name that conditions know it by (`{ notification: … }`, `{ runner: … }`). */
  readonly item?: Readonly<Record<string, unknown>>;
  readonly now: Date;
};

/** A step once its rule matched. Only a `ready` one is planned. */
export type ResolvedStep =
  | { readonly step: LoadedStep; readonly state: 'ready'; readonly arguments: unknown }
  /** Its own `if` did not hold: nothing is touched. */
  | { readonly step: LoadedStep; readonly state: 'unmatched' }
  /** An expression of its own could not be known: it and the later steps of the rule write nothing. */
  | { readonly step: LoadedStep; readonly state: 'failed'; readonly reason: string };

/** A rule's verdict and, where it matched, its steps in order. */
export type Evaluation = {
  readonly verdict: Verdict;
  readonly steps: readonly ResolvedStep[];
  /** Set where something could not be known because of the forge and a later attempt may help: retry the delivery. */
  readonly retry?: ReeveError;
};

/** Returns what a rule says in this situation. Facts of its `if` are asked before those of its steps. Never rejects. */
export async function evaluateRule(_rule: LoadedRule, _situation: Situation): Promise<Evaluation> {
  throw new ReeveError('internal', 'evaluateRule is not there yet');
}
