import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { AnyInput } from '../contract/operation.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Level, type LoadedRule, levels } from '../rules/rule.ts';
import type { HeadPin } from './same-commit.ts';

/** What one step of a matched rule proposes. */
export type Proposal = {
  readonly rule: LoadedRule;
  readonly step: string;
  readonly action: Action;
  readonly arguments: unknown;
  /** The context that `plan` received besides the facts, kept for planning again. */
  readonly context: PlanContext;
  readonly changes: readonly Change[];
  /** The head before the first fact was read; absent if nothing depends on it. */
  readonly pin?: HeadPin | undefined;
};

/**
 * One change of the plan, with the proposals that want it. The proposals come either only from rules that write, or
 * only from rules in `observe` mode: observing rules do not affect which powers, budget and origin a change has.
 */
export type PlannedChange = {
  readonly id: string;
  readonly change: Change;
  readonly proposals: readonly Proposal[];
  /** Proposals of rules in `observe` mode for the same change. */
  readonly watchers?: readonly Proposal[];
};

export type RefusedChange = {
  readonly planned: PlannedChange;
  readonly why: string;
  /** RFC 3339; set if the change is deferred: the run is repeated at this instant. */
  readonly until?: string;
  /** Set if only a limit or a pause stops the change. */
  readonly isLimited?: true;
  /**
   * Set if the change grants something to a login that has not been confirmed to belong to the account of its first
   * use.
   */
  readonly isHeld?: true;
  /** The login whose account an operator must confirm. */
  readonly account?: string;
};

/** The changes to make, in order, and the refused changes. */
export type Plan = { readonly changes: readonly PlannedChange[]; readonly refused: readonly RefusedChange[] };

/** Returns the rank of the most powerful rule that wants a change. The operator's rank is 0. */
export function rankOf(planned: PlannedChange): number {
  return Math.min(...planned.proposals.map((proposal) => levels.indexOf(proposal.rule.level)));
}

/** Returns the names of the rules that want changes, for display. */
export function ruleNames(...planned: readonly PlannedChange[]): string {
  return [...new Set(planned.flatMap(({ proposals }) => proposals.map(({ rule }) => rule.id)))].join(' and ');
}

/**
 * Returns the most powerful level among the rules that want a change. The change is made with the powers of this level.
 */
export function levelOfChange(planned: PlannedChange): Level {
  return levels[rankOf(planned)] ?? 'repository';
}

/** Returns whether a change may be sent: at least one rule that wants it does more than observe. */
export function isEnforced({ proposals }: PlannedChange): boolean {
  return proposals.some(isEnforcing);
}

/** Returns whether a proposal comes from a rule that does more than observe. */
export function isEnforcing({ rule }: Proposal): boolean {
  return rule.mode === 'enforce';
}

/** Groups the changes that are sent as one request, ordered by the first change of each request. */
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

/** Returns the input of the request for a group of changes. */
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

/** Returns the facts that must be fresh when the request for a group is sent. */
export function factsToRefresh(group: readonly PlannedChange[]): readonly FactRequest[] {
  return group.flatMap((planned) => planned.change.reads ?? []);
}

/**
 * Returns the facts whose values are kept when the change is planned again. `isOutdated`: the state on the forge is
 * known to differ from the state that was read.
 */
export function keptFactsOf({ keeps = [], reads = [] }: Change, isOutdated: boolean): readonly FactRequest[] {
  const changing = new Set(isOutdated ? reads.map(factKey) : []);
  return keeps.filter((request) => !changing.has(factKey(request)));
}

/** Returns all facts that the actions of a group read for planning. */
export function factsOf(group: readonly PlannedChange[]): readonly FactRequest[] {
  return group.flatMap((planned) =>
    planned.proposals.flatMap((proposal) => proposal.action.facts(proposal.arguments)),
  );
}
