import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type OpenParts, onOpenItems } from '../../../work/sweeps/open-items.ts';

/**
 * Returns the scheduled operator rules with this name or identity, or all of them. Throws `usage` if there is none, or
 * if a name belongs to several. Only REEVE_RULES is read, because a server runs no other operator schedules, and the
 * `rules/` folder of a checkout contains examples.
 */
export async function findSweepRules(
  name: string | undefined,
  settings: Settings,
): Promise<readonly [LoadedRule, ...LoadedRule[]]> {
  const scheduled = (await readOperatorRules(settings)).filter(({ schedules }) => schedules.length > 0);
  const none = `no rule in ${settings.rules} has a schedule`;
  const [first, ...more] = scheduled;
  if (name === undefined && first) return [first, ...more];
  return [
    pickRule(name ?? '', scheduled, {
      none,
      unknown: `no rule with a schedule is named "${name}"; there are`,
    }),
  ];
}

/**
 * Returns the operator rule with this name or identity, as it runs for open issues and pull requests. Throws `usage`
 * unless there is exactly one, or if it cannot run for them.
 */
export async function findOpenRule(
  name: string,
  settings: Settings,
): Promise<{ readonly rule: LoadedRule; readonly open: OpenParts }> {
  const rule = pickRule(name, await readOperatorRules(settings), {
    none: `there is no rule in ${settings.rules}`,
    unknown: `no rule of the operator is named "${name}", and rules of a .reeve.yml cannot be applied to what is open; there are`,
  });
  const found = onOpenItems(rule);
  if ('parts' in found) return { rule, open: found.parts };
  throw new ReeveError('usage', `the rule ${rule.name} cannot run on what is open: ${found.why}`);
}

async function readOperatorRules(settings: Settings): Promise<readonly LoadedRule[]> {
  if (settings.rules === undefined) {
    throw new ReeveError(
      'usage',
      'this command runs a rule of the operator: set REEVE_RULES to the folder or file of these rules',
    );
  }
  const files = await loadRuleFiles([settings.rules], { isOperators: true });
  return files.flatMap(({ rules }) => rules);
}

/** Returns the rule with this name or identity. `none` and `unknown` are the messages if it does not exist. */
function pickRule(
  name: string,
  rules: readonly LoadedRule[],
  { none, unknown }: { readonly none: string; readonly unknown: string },
): LoadedRule {
  const found = rules.filter((rule) => rule.id === name || rule.name === name);
  const [rule] = found;
  if (rule && found.length === 1) return rule;
  const known = (found.length > 1 ? found : rules).map(({ id }) => id).join('\n  ');
  if (found.length > 1) throw new ReeveError('usage', `"${name}" is the name of several rules:\n  ${known}`);
  throw new ReeveError('usage', known === '' ? none : `${unknown}\n  ${known}`);
}
