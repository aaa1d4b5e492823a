import type { Subject } from '../../src/contract/events/subject.ts';
import { type Fact, type FactRequest, type Facts, factKey, typedAsk } from '../../src/facts/fact.ts';
import { facts as table } from '../../src/facts/facts.ts';

/**
 * Test double of facts with given values. An Error as value makes the fact fail. `asked` records the requested facts.
 */
type FakeFacts = Facts & { readonly asked: string[] };

/**
 * Creates facts from plain values (`{ labels: ['bug'] }`), completed according to the table of facts. Facts without a
 * value fail.
 */
export function makeFacts(
  given: Readonly<Record<string, unknown>> = {},
  options: { subject?: Partial<Subject>; facts?: readonly Fact[] } = {},
): FakeFacts {
  const rows = options.facts ?? table;
  const asked: string[] = [];
  const facts: FakeFacts = {
    asked,
    subject: {
      kind: 'pull_request',
      repository: { id: 1, owner: 'acme', name: 'site' },
      index: 7,
      ...options.subject,
    },
    ask: typedAsk(async (request) => {
      asked.push(factKey(request));
      const fact = rows.find((row) => row.name === request.name);
      const value = givenValue(request, given);
      if (value instanceof Error) throw value;
      if (value === undefined) throw new Error(`${factKey(request)} is not given`);
      return fact?.complete ? fact.complete(value) : value;
    }),
    fresh: () => facts,
    anew: () => facts,
    forget() {},
    has: (request) => asked.includes(factKey(request)),
    costOf: () => 0,
  };
  return facts;
}

function givenValue({ name, argument }: FactRequest, given: Readonly<Record<string, unknown>>): unknown {
  const value = given[name];
  if (argument === undefined || value instanceof Error) return value;
  return typeof value === 'object' && value !== null ? Reflect.get(value, argument) : undefined;
}
