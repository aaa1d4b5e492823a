import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { AnyInput } from '../contract/operation.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Level, type LoadedRule, levels } from '../rules/rule.ts';
import type { HeadPin } from './same-commit.ts';

/** One proposal of a step of a matched rule. */
export type Proposal = {
  readonly rule: LoadedRule;
  readonly step: string;
  readonly action: Action;
  readonly arguments: unknown;
  /** Context that `plan` got besides the facts, for planning again. */
  readonly context: PlanContext;
  readonly changes: readonly Change[];
  /** The head before the first fact was read; absent if nothing depends on it. */
  readonly pin?: HeadPin | undefined;
};

/**
 * One change of the plan with the proposals that want it. They are either all of rules that write, or all of rules in
 * `observe` mode: observing rules do not affect the powers, budget and origin of a change.
 */
export type PlannedChange = {
  readonly id: string;
  readonly change: Change;
  readonly proposals: readonly Proposal[];
  /** The same proposals of rules in `observe` mode. */
  readonly watchers?: readonly Proposal[];
};

export type RefusedChange = {
  readonly planned: PlannedChange;
  readonly why: string;
  /** RFC 3339; set if the change is deferred: its run is repeated at this instant. */
  readonly until?: string;
  /** Set if only a limit or a pause stops it. */
  readonly isLimited?: true;
  /** Set if it grants something to a login that is not confirmed to belong to the account of its first use. */
  readonly isHeld?: true;
  /** That login, if an operator has to confirm its account. */
  readonly account?: string;
};

/** The changes to make, in order, and the refused ones. */
export type Plan = { readonly changes: readonly PlannedChange[]; readonly refused: readonly RefusedChange[] };

/** Returns the rank of the most powerful rule that wants a change: 0 is the operator's. */
export function rankOf(planned: PlannedChange): number {
  return Math.min(...planned.proposals.map((proposal) => levels.indexOf(proposal.rule.level)));
}

/** Returns the names of the rules that want changes, for display. */
export function ruleNames(...planned: readonly PlannedChange[]): string {
  return [...new Set(planned.flatMap(({ proposals }) => proposals.map(({ rule }) => rule.id)))].join(' and ');
}

/** Returns the most powerful origin among the rules that want a change: the change is made with those powers. */
export function levelOfChange(planned: PlannedChange): Level {
  return levels[rankOf(planned)] ?? 'repository';
}

/** Returns whether a change may be sent: a rule that wants it does more than observe. */
export function isEnforced({ proposals }: PlannedChange): boolean {
  return proposals.some(isEnforcing);
}

/** Returns whether a proposal comes from a rule that does more than observe. */
export function isEnforcing({ rule }: Proposal): boolean {
  return rule.mode === 'enforce';
}

/** Groups changes by their request, in order of the first change of each request. */
export function groupByRequest(changes: readonly PlannedChange[]): readonly (readonly PlannedChange[])[] {
  const groups = new Map<string, PlannedChange[]>();
  for (const planned of changes) {
    const { joins, operation } = planned.change;
    const key = joins === undefined ? planned.id : `${operation} ${joins}`;
    const group = groups.get(key);
    if (group) group.push(planned);
    else groups.set(key, [planned]);
  }
  return [...groups.values()];
}

/** Returns the input of the request that makes a group of changes. */
export async function inputOf(group: readonly PlannedChange[], facts: Facts): Promise<AnyInput> {
  const [first] = group;
  if (first === undefined) throw new ReeveError('internal', 'a request without a change');
  const join = first.change.joins === undefined ? undefined : first.proposals[0]?.action.join;
  return join
    ? join(
        group.map((planned) => planned.change),
        facts,
      )
    : first.change.input;
}

/** Returns the facts that must be fresh when the request is made. */
export function factsToRefresh(group: readonly PlannedChange[]): readonly FactRequest[] {
  return group.flatMap((planned) => planned.change.reads ?? []);
}

/**
 * Returns the facts whose values a new plan of the change keeps. `isOutdated`: the state on the forge differs from the
 * one that was read.
 */
export function keptFactsOf({ keeps = [], reads = [] }: Change, isOutdated: boolean): readonly FactRequest[] {
  const changing = new Set(isOutdated ? reads.map(factKey) : []);
  return keeps.filter((request) => !changing.has(factKey(request)));
}

/** Returns all facts that the actions of a group plan from. */
export function factsOf(group: readonly PlannedChange[]): readonly FactRequest[] {
  return group.flatMap((planned) =>
    planned.proposals.flatMap((proposal) => proposal.action.facts(proposal.arguments)),
  );
}
