import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';

/**
 * Returns the scheduled operator rules with this name or identity, or all of them. Throws `usage` if there is none, or
 * if a name belongs to several. Only REEVE_RULES is read, because a server runs no other operator schedules, and the
 * `rules/` folder of a checkout contains examples.
 */
export async function findSweepRules(
  name: string | undefined,
  settings: Settings,
): Promise<readonly [LoadedRule, ...LoadedRule[]]> {
  if (settings.rules === undefined) {
    throw new ReeveError(
      'usage',
      'a sweep runs a rule of the operator: set REEVE_RULES to the folder or file of these rules',
    );
  }
  const files = await loadRuleFiles([settings.rules], { isOperators: true });
  const scheduled = files.flatMap(({ rules }) => rules).filter(({ schedules }) => schedules.length > 0);
  const [rule, ...more] =
    name === undefined ? scheduled : scheduled.filter((one) => one.id === name || one.name === name);
  if (rule && (more.length === 0 || name === undefined)) return [rule, ...more];
  const known = scheduled.map(({ id }) => id).join('\n  ');
  if (more.length > 0) throw new ReeveError('usage', `"${name}" is the name of several rules:\n  ${known}`);
  throw new ReeveError(
    'usage',
    known === ''
      ? `no rule in ${settings.rules} has a schedule`
      : `no rule with a schedule is named "${name}"; there are\n  ${known}`,
  );
}
