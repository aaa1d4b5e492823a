import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';

/**
 * Returns the scheduled operator rule with this name or identity. Throws `usage` unless there is exactly one. Only
 * REEVE_RULES is read, because a server runs no other operator schedules, and the `rules/` folder of a checkout
 * contains examples.
 */
export async function findSweepRule(name: string, settings: Settings): Promise<LoadedRule> {
  if (settings.rules === undefined) {
    throw new ReeveError(
      'usage',
      'a sweep runs a rule of the operator: set REEVE_RULES to the folder or file of these rules',
    );
  }
  const files = await loadRuleFiles([settings.rules], { isOperators: true });
  const scheduled = files.flatMap(({ rules }) => rules).filter(({ schedules }) => schedules.length > 0);
  const found = scheduled.filter((rule) => rule.id === name || rule.name === name);
  const [rule] = found;
  if (rule && found.length === 1) return rule;
  const known = scheduled.map(({ id }) => id).join('\n  ');
  if (found.length > 1) throw new ReeveError('usage', `"${name}" is the name of several rules:\n  ${known}`);
  throw new ReeveError(
    'usage',
    known === ''
      ? `no rule in ${settings.rules} has a schedule`
      : `no rule with a schedule is named "${name}"; there are\n  ${known}`,
  );
}
