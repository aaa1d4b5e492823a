import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { AnyInput } from '../contract/operation.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Level, type LoadedRule, levels } from '../rules/rule.ts';
import type { HeadPin } from './same-commit.ts';

/** What one step of a rule that matched wants. */
export type Proposal = {
  readonly rule: LoadedRule;
  readonly step: string;
  readonly action: Action;
  readonly arguments: unknown;
  /** What `plan` was told beside the facts, for planning again. */
  readonly context: PlanContext;
  readonly changes: readonly Change[];
  /** The head before the first fact was read; absent where nothing depends on it. */
  readonly pin?: HeadPin | undefined;
};

/**
 * One change of the plan with everybody who wants it. Its proposals are all of rules that write, or all of rules that observe:
 * with what powers it is made, what it costs and what it is made of is no matter of those who watch.
 */
export type PlannedChange = {
  readonly id: string;
  readonly change: Change;
  readonly proposals: readonly Proposal[];
  /** What rules that observe want the same. */
  readonly watchers?: readonly Proposal[];
};

export type RefusedChange = {
  readonly planned: PlannedChange;
  readonly why: string;
  /** RFC 3339; set where the change is deferred: its run is repeated at this instant. */
  readonly until?: string;
  /** Set where a limit or a pause stops it, and nothing else. */
  readonly isLimited?: true;
  /** Set where it gives something to a login that is not known to be that of the account of its first use. */
  readonly isHeld?: true;
  /** That login, where an operator has to say whose it is. */
  readonly account?: string;
};

/** What is to be changed, in order, and what is not. */
export type Plan = { readonly changes: readonly PlannedChange[]; readonly refused: readonly RefusedChange[] };

/** Returns the rank of the most powerful rule that wants a change: 0 is the operator's. */
export function rankOf(planned: PlannedChange): number {
  return Math.min(...planned.proposals.map((proposal) => levels.indexOf(proposal.rule.level)));
}

/** Returns the rules that want changes, for people. */
export function ruleNames(...planned: readonly PlannedChange[]): string {
  return [...new Set(planned.flatMap(({ proposals }) => proposals.map(({ rule }) => rule.id)))].join(' and ');
}

/** Returns the most powerful origin among the rules that want a change: it is made with those powers. */
export function levelOfChange(planned: PlannedChange): Level {
  return levels[rankOf(planned)] ?? 'repository';
}

/** Returns whether a change may be sent: those who want it do more than observe. */
export function isEnforced({ proposals }: PlannedChange): boolean {
  return proposals.some(isEnforcing);
}

/** Returns whether a proposal is of a rule that does more than observe. */
export function isEnforcing({ rule }: Proposal): boolean {
  return rule.mode === 'enforce';
}

/** Groups changes by the request that makes them, in order; a request stands at the place of its first change. */
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

/** Returns the facts whose answers a new plan of the change keeps. `isOutdated`: the forge has another state than was read. */
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
