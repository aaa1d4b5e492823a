import { type FactRequest, factKey } from '../../facts/fact.ts';
import { findFact } from '../../facts/facts.ts';
import { describeShape } from '../../facts/given-value.ts';
import type { LoadedRule } from '../rule.ts';

/** A fact that a rule reads and that a case does not give. */
export type MissingFact = {
  /** Identity of the rule. */
  readonly rule: string;
  /** The part of the rule that reads it: `paths`, `if`, a step, or the plan of one. */
  readonly reader: string;
  readonly request: FactRequest;
};

/**
 * Returns the facts that failed rules read and a case does not give, all at once: those of their expressions, and those
 * that their actions declare. `asked` are the missing facts that the run came to: a rule that came to none of its own
 * failed for another reason, unless its plan found out by itself what it needs.
 */
export async function findMissingFacts(
  failed: readonly LoadedRule[],
  asked: readonly FactRequest[],
  isGiven: (request: FactRequest) => Promise<boolean>,
): Promise<readonly MissingFact[]> {
  const isMissing = async ({ request }: FactRead): Promise<boolean> =>
    !request.optional && findFact(request.name) !== undefined && !(await isGiven(request));
  const readers: { readonly rule: string; readonly missing: readonly FactRead[] }[] = [];
  for (const rule of failed) {
    const missing: FactRead[] = [];
    for (const read of readsOf(rule)) if (await isMissing(read)) missing.push(read);
    readers.push({ rule: rule.id, missing });
  }
  const declared = new Set(readers.flatMap(({ missing }) => missing.map(({ request }) => factKey(request))));
  const askedKeys = new Set(asked.map(factKey));
  const inPlan = asked
    .filter((request) => !declared.has(factKey(request)))
    .map((request) => ({ reader: 'the plan', request }));
  return readers.flatMap(({ rule, missing }) => {
    const came = missing.some(({ request }) => askedKeys.has(factKey(request)));
    const found = came ? missing : missing.length === 0 ? inPlan : [];
    return found.map((read) => ({ rule, ...read }));
  });
}

type FactRead = Omit<MissingFact, 'rule'>;

function readsOf({ on, condition, steps }: LoadedRule): readonly FactRead[] {
  const readsPaths = on.some(({ paths, pathsIgnore }) => paths !== undefined || pathsIgnore !== undefined);
  const read = (reader: string, requests: readonly FactRequest[]) =>
    requests.map((request) => ({ reader, request }));
  return [
    ...(readsPaths ? read('paths', [{ name: 'files' }]) : []),
    ...read('if', condition?.facts ?? []),
    ...steps.flatMap(({ name, condition: ofStep, arguments: given, action }) =>
      read(`step ${name}`, [
        ...(ofStep?.facts ?? []),
        ...given.facts,
        // Conditions among them are still text: which facts an action reads depends on them in `when: false` alone.
        ...action.facts(given.written),
      ]),
    ),
  ];
}

/** Returns lines that name these facts, what each of them is, and where to write them. */
export function describeMissing(missing: readonly MissingFact[]): readonly string[] {
  const readers = new Map<string, Set<string>>();
  for (const { rule, reader, request } of missing) {
    const form = formOf(request);
    const one = `${reader} of ${rule.slice(rule.indexOf('#') + 1)}`;
    readers.set(form, (readers.get(form) ?? new Set()).add(one));
  }
  if (readers.size === 0) return [];
  const count = readers.size === 1 ? 'a fact is' : `${readers.size} facts are`;
  return [
    `${count} not given; write under "facts" of this case (members: docs/reference/facts):`,
    ...[...readers].map(([form, by]) => `  ${form}, read by ${[...by].join(' and ')}`),
  ];
}

/** Returns how a fact is written in a case: `files: a list`, `contents: { "a.txt": an object }`. */
function formOf({ name, argument }: FactRequest): string {
  const shape = findFact(name)?.shape;
  const value = shape === undefined ? 'a value' : describeShape(shape);
  const [owner = '', member] = name.split('.');
  if (member !== undefined) return `${owner}: { ${member}: ${value} }`;
  return argument === undefined ? `${name}: ${value}` : `${name}: { ${JSON.stringify(argument)}: ${value} }`;
}
