import type { FactRequest, Facts } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import type { LoadedRule } from '../rules/rule.ts';

/**
 * Returns the facts as this rule may see them. Rules that are not the operator's see a fact reduced to what its
 * repository shows, where the fact says how: what they tell further (in a comment, in a run) must be no secret there.
 */
export function factsFor(rule: LoadedRule, facts: Facts): Facts {
  if (rule.level === 'operator') return facts;
  const view = (inner: Facts): Facts => ({
    subject: inner.subject,
    ask: async (request: FactRequest) => {
      const value = await inner.ask(request);
      const reduce = findFact(request.name)?.reduce;
      return reduce ? reduce(value, inner.subject) : value;
    },
    fresh: (requests, maxAgeMs) => view(inner.fresh(requests, maxAgeMs)),
    forget: (names) => inner.forget(names),
  });
  return view(facts);
}
