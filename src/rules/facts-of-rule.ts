import { type Fact, type FactRequest, factKey } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import type { LoadedRule } from './rule.ts';

const requestsOfRules = new WeakMap<LoadedRule, readonly FactRequest[]>();

/** Returns the facts that a rule names, each once; what its actions read by themselves is in the needs of these. */
export function requestsOfRule(rule: LoadedRule): readonly FactRequest[] {
  // Each event asks this of each rule that hears it.
  let requests = requestsOfRules.get(rule);
  if (requests === undefined) {
    requests = findRequests(rule);
    requestsOfRules.set(rule, requests);
  }
  return requests;
}

function findRequests({ on, condition, steps }: LoadedRule): readonly FactRequest[] {
  const readsPaths = on.some(({ paths, pathsIgnore }) => paths !== undefined || pathsIgnore !== undefined);
  const requests = [
    ...(readsPaths ? [{ name: 'files' }] : []),
    ...(condition?.facts ?? []),
    ...steps.flatMap((step) => [...(step.condition?.facts ?? []), ...step.arguments.facts]),
  ];
  return [...new Map(requests.map((request) => [factKey(request), request])).values()];
}

/** Returns the rows of the facts that a rule names. */
export function factsOfRule(rule: LoadedRule): readonly Fact[] {
  const names = new Set(requestsOfRule(rule).map(({ name }) => name));
  return [...names].flatMap((name) => findFact(name) ?? []);
}
