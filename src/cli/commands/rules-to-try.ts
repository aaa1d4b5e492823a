import type { Client } from '../../client/client.ts';
import { systemClock } from '../../platform/clock.ts';
import { formatProblem } from '../../rules/problem.ts';
import { createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import { loadRuleFiles, readOffers } from '../../rules/sources/folder.ts';
import { createRuleSource, type InForce, type RuleSource } from '../../rules/sources/rule-source.ts';
import type { Settings } from '../../server/settings/config.ts';
import type { Terminal } from '../output/terminal.ts';

/** Returns the rules of a file or folder. Prints problems, and omits the files that have problems. */
export async function readRules(
  path: string | undefined,
  terminal: Terminal,
  options: { readonly isOperators?: boolean } = {},
): Promise<readonly LoadedRule[]> {
  const files = path === undefined ? [] : await loadRuleFiles([path], options);
  for (const problem of files.flatMap((file) => file.problems)) terminal.error(`${formatProblem(problem)}\n`);
  return files.flatMap((file) => file.rules);
}

/**
 * Returns a function that finds the rules for an event: only those of `only` if it is given, otherwise the rules in
 * force, with every repository treated as served.
 */
export async function findRulesToTry(
  { only, settings, client }: { only: string | undefined; settings: Settings; client: Client },
  terminal: Terminal,
): Promise<(event: AdmittedEvent) => Promise<InForce>> {
  const operatorRules = await readRules(only ?? settings.rules, terminal, {
    isOperators: only === undefined,
  });
  if (only !== undefined) {
    const rules = createRuleSet(operatorRules);
    return async () => ({ rules, broken: [] });
  }
  const source = await createSource(settings, client, operatorRules);
  return (event) => source.rulesFor(event);
}

/** Returns the rules in force. Files with problems have no rules. */
export async function rulesInForce(settings: Settings, client: Client): Promise<RuleSource> {
  const { rules } = settings;
  const files = rules === undefined ? [] : await loadRuleFiles([rules], { isOperators: true });
  return createSource(
    settings,
    client,
    files.flatMap((file) => file.rules),
  );
}

async function createSource(
  { rules, organizations, grants }: Settings,
  client: Client,
  operatorRules: readonly LoadedRule[],
): Promise<RuleSource> {
  const offered = rules === undefined ? new Map() : await readOffers(rules);
  return createRuleSource({ client, operatorRules, offered, organizations, grants, clock: systemClock });
}
