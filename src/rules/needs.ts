import { type Capabilities, capabilityOfEvent, unsupportedReason } from '../client/capabilities.ts';
import { senderPermission } from '../facts/collaborators.ts';
import { type Fact, type FactRequest, factKey, requestOf } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import { type Problem, problemAtLine } from './problem.ts';
import type { LoadedRule } from './rule.ts';

const requestsOfRules = new WeakMap<LoadedRule, readonly FactRequest[]>();

/**
 * Returns the facts that a rule names, without duplicates. Facts that its actions read are not included, because their
 * requirements are part of the `needs` of the actions.
 */
export function requestsOfRule(rule: LoadedRule): readonly FactRequest[] {
  // Cached, because the facts are needed for every event and rule.
  let requests = requestsOfRules.get(rule);
  if (requests === undefined) {
    requests = findRequests(rule);
    requestsOfRules.set(rule, requests);
  }
  return requests;
}

function findRequests({ on, condition, permission, steps }: LoadedRule): readonly FactRequest[] {
  const readsPaths = on.some(({ paths, pathsIgnore }) => paths !== undefined || pathsIgnore !== undefined);
  const requests = [
    ...(readsPaths ? [{ name: 'files' }] : []),
    ...(permission === undefined || permission.level === 'everyone' ? [] : [requestOf(senderPermission)]),
    ...(condition?.facts ?? []),
    ...steps.flatMap((step) => [...(step.condition?.facts ?? []), ...step.arguments.facts]),
  ];
  return [...new Map(requests.map((request) => [factKey(request), request])).values()];
}

/** Returns the definitions of the facts that a rule names. */
export function factsOfRule(rule: LoadedRule): readonly Fact[] {
  const names = new Set(requestsOfRule(rule).map(({ name }) => name));
  return [...names].flatMap((name) => findFact(name) ?? []);
}

/**
 * Returns a problem for each capability that rules need but the forge lacks, at the line of the rule or step, and a
 * warning for each event that the forge does not send, if the rule runs for others. `textOf` returns a file's text.
 */
export function checkCapabilities(
  rules: readonly LoadedRule[],
  capabilities: Capabilities,
  textOf: (path: string) => string,
): { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] } {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const rule of rules) {
    const at = (code: Problem['code'], line: number, message: string): Problem =>
      problemAtLine({ code, message, path: rule.source, line }, textOf);
    const families = [...new Set(rule.on.map(({ family }) => family))];
    const unsent = families.flatMap((family) => {
      const needed = capabilityOfEvent[family];
      const why = needed && unsupportedReason(capabilities, [needed]);
      return why === undefined ? [] : [`rule ${rule.name} listens to ${family}: ${why}`];
    });
    const runs = unsent.length < families.length || rule.schedules.length > 0;
    for (const message of unsent) {
      if (runs)
        warnings.push(
          at(
            'unsent-event',
            rule.line,
            `${message}; the rule runs for its other events, and what waits for checks is looked at again`,
          ),
        );
      else problems.push(at('capability', rule.line, message));
    }
    for (const { action, arguments: given, line } of rule.steps) {
      for (const [path, needed] of Object.entries(action.requires ?? {})) {
        const why = says(given.written, path) ? unsupportedReason(capabilities, [needed]) : undefined;
        const message = `${action.name} says ${path.replace('=', ' ')}: ${why}`;
        if (why !== undefined) problems.push(at('capability', line, message));
      }
    }
  }
  return { problems, warnings };
}

/**
 * Returns whether arguments contain a value at a path (`hooks.name`), or a particular text at that path
 * (`hooks.events=status`).
 */
function says(written: unknown, path: string): boolean {
  const [names = '', text] = path.split('=');
  let found: readonly unknown[] = [written];
  for (const name of names.split('.')) {
    found = found.flat().flatMap((value) => {
      const inner: unknown =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? Reflect.get(value, name)
          : undefined;
      return inner === undefined ? [] : [inner];
    });
  }
  return text === undefined ? found.length > 0 : found.flat().includes(text);
}
