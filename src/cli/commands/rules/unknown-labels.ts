import type { Client } from '../../../client/client.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { createFactMemory, createFacts } from '../../../facts/ask.ts';
import { requestOf } from '../../../facts/fact.ts';
import { labelDefinitions } from '../../../facts/label-definitions.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { isInScope } from '../../../rules/match.ts';
import { type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { servedRepositories, toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import type { CheckedForge } from '../../connection/checks/missing-access.ts';

/** Repositories that are looked into; each costs two requests or a few. */
const maxRepositories = 100;

/**
 * Returns a warning for each label that a `set-labels` step names and that a repository in the scope of its rule does not
 * have: the repositories given by name, or those that the account has starred. Whose file a repository's own is, is not
 * known: its labels are looked for in repositories given by name alone.
 */
export async function unknownLabels(
  rules: readonly LoadedRule[],
  { client, repositories, textOf }: CheckedForge,
): Promise<readonly Problem[]> {
  const found = rules.filter(({ level }) => level === 'operator' || repositories.length > 0);
  const wanted = found.flatMap((rule) =>
    rule.steps.flatMap((step) =>
      labelsOf(step.arguments.written, step.action.name).map((label) => ({ rule, step, label })),
    ),
  );
  if (wanted.length === 0) return [];
  const missing = new Map<(typeof wanted)[number], string[]>();
  for (const repository of await servedIn(client, repositories)) {
    const name = `${repository.owner}/${repository.name}`;
    const subject: Subject = { kind: 'repository', repository };
    const inScope = wanted.filter(({ rule }) => isInScope(rule, subject, createUnlimitedMeter()));
    if (inScope.length === 0) continue;
    const known = await labelsIn(client, repository);
    for (const one of inScope) {
      if (!known.has(one.label)) missing.set(one, [...(missing.get(one) ?? []), name]);
    }
  }
  return [...missing].map(([{ rule, step, label }, [first = '', ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `there is no label "${label}" in ${first}${more}: the rule fails there; create it, or add create to the step`;
    return problemAtLine({ code: 'unknown-label', message, path: rule.source, line: step.line }, textOf);
  });
}

/** Names of labels that must be there: none where the step makes what is missing. */
function labelsOf(written: unknown, action: string): readonly string[] {
  if (action !== 'set-labels' || typeof written !== 'object' || written === null) return [];
  if (Reflect.get(written, 'create') !== undefined) return [];
  const sync: unknown = Reflect.get(written, 'sync');
  const lists: readonly unknown[] = [Reflect.get(written, 'add'), Reflect.get(written, 'remove')];
  const names = [...lists.flat(), ...Object.keys(typeof sync === 'object' && sync !== null ? sync : {})];
  return names.filter((name): name is string => typeof name === 'string');
}

/** Returns the repositories of these names, else those that the account has starred; at most a hundred. */
export async function servedIn(client: Client, names: readonly string[]): Promise<readonly RepositoryRef[]> {
  const { login } = names.length > 0 ? { login: '' } : await client.call(operations.getSelf, {});
  const served = { login: async () => login, listed: [], only: names.length > 0 ? names : undefined };
  const found: RepositoryRef[] = [];
  for await (const { repositories, failures } of servedRepositories(client, served)) {
    const [failure] = failures;
    if (failure) throw new ReeveError('usage', `${failure.item} cannot be seen: ${failure.error.message}`);
    found.push(...repositories.map(toRepositoryRef));
    if (found.length >= maxRepositories) return found.slice(0, maxRepositories);
  }
  return found;
}

/** Returns the names of the labels of a repository and of its organization. */
async function labelsIn(client: Client, repository: RepositoryRef): Promise<ReadonlySet<string>> {
  const clock = systemClock;
  const subject: Subject = { kind: 'repository', repository };
  const facts = createFacts({ client, subject, memory: createFactMemory(clock), clock });
  // What this fact returns is an array of its shape.
  const labels = await facts.ask(requestOf(labelDefinitions));
  return new Set(labels.map(({ name }) => name));
}
