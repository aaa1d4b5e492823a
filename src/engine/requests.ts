import type { Change } from '../actions/change.ts';
import type { AnyInput } from '../contract/operation.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import type { PlannedChange } from './proposal.ts';

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
