import { findAccount } from '../../../client/client.ts';
import { systemClock } from '../../../platform/clock.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles, readOffers } from '../../../rules/sources/folder.ts';
import { createRuleSource } from '../../../rules/sources/rule-source.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type OpenParts, onOpenItems } from '../../../work/sweeps/open-items.ts';
import { everyServed } from '../../../work/sweeps/targets/repositories.ts';
import { clientOf } from '../open-store.ts';

/**
 * Returns the scheduled rules with this name or identity, or all of those of the operator. Throws `usage` if there is
 * none, or if a name belongs to several.
 */
export async function findSweepRules(
  name: string | undefined,
  settings: Settings,
): Promise<readonly [LoadedRule, ...LoadedRule[]]> {
  const hasSchedule = ({ schedules }: LoadedRule): boolean => schedules.length > 0;
  if (name !== undefined) return [await findRule(name, settings, hasSchedule, ' with a schedule')];
  const [first, ...more] = (await readOperatorRules(settings)).filter(hasSchedule);
  if (first) return [first, ...more];
  throw new ReeveError(
    'usage',
    settings.rules === undefined
      ? 'name a rule, or set REEVE_RULES to the folder or file with rules of the operator'
      : `no rule in ${settings.rules} has a schedule`,
  );
}

/**
 * Returns the rule with this name or identity, as it runs for open issues and pull requests. Throws `usage` unless there
 * is exactly one, or if it cannot run for them.
 */
export async function findOpenRule(
  name: string,
  settings: Settings,
): Promise<{ readonly rule: LoadedRule; readonly open: OpenParts }> {
  const rule = await findRule(name, settings, () => true);
  const found = onOpenItems(rule);
  if ('parts' in found) return { rule, open: found.parts };
  throw new ReeveError('usage', `the rule ${rule.name} cannot run on what is open: ${found.why}`);
}

/**
 * Returns the rule with this name or identity: of the operator or, if the operator has none, of a served repository or
 * an organization. Throws `usage` unless there is exactly one.
 */
async function findRule(
  name: string,
  settings: Settings,
  isWanted: (rule: LoadedRule) => boolean,
  which = '',
): Promise<LoadedRule> {
  const find = (rules: readonly LoadedRule[]): LoadedRule | undefined => {
    const found = rules.filter((rule) => rule.id === name || rule.name === name);
    if (found.length > 1)
      throw new ReeveError('usage', `"${name}" is the name of several rules:${listOf(found)}`);
    return found[0];
  };
  const ofOperator = (await readOperatorRules(settings)).filter(isWanted);
  const known = find(ofOperator);
  if (known) return known;
  let unread = '';
  const read = readOtherRules(settings).catch((error: unknown) => {
    unread = `\nThe rules of served repositories could not be read: ${messageOf(error)}`;
    return [];
  });
  const others = (await read).filter(isWanted);
  const other = find(others);
  if (other) return other;
  const all = [...ofOperator, ...others];
  throw new ReeveError(
    'usage',
    all.length > 0
      ? `no rule${which} is named "${name}"; there are${listOf(all)}${unread}`
      : `there is no rule${which} in ${sourcesOf(settings)}${unread}`,
  );
}

function sourcesOf({ rules }: Settings): string {
  const others = 'the .reeve.yml of a served repository';
  return rules === undefined
    ? `${others}; set REEVE_RULES to the folder or file with rules of the operator`
    : `${rules} or ${others}`;
}

function listOf(rules: readonly LoadedRule[]): string {
  return rules.map(({ id }) => `\n  ${id}`).join('');
}

/**
 * Only REEVE_RULES is read, because a server runs no other schedules of the operator, and the `rules/` folder of a
 * checkout contains examples.
 */
async function readOperatorRules({ rules }: Settings): Promise<readonly LoadedRule[]> {
  const files = rules === undefined ? [] : await loadRuleFiles([rules], { isOperators: true });
  return files.flatMap((file) => file.rules);
}

/** Reads the rules of served repositories and of organizations from the forge. */
async function readOtherRules(settings: Settings): Promise<readonly LoadedRule[]> {
  if (settings.forge === undefined) return [];
  const client = clientOf(settings);
  const login = async (): Promise<string> => (await findAccount(client, { allowAdmin: true })).login;
  const source = createRuleSource({
    client,
    everyServed: () => everyServed(client, { login, listed: settings.repositories }),
    operatorRules: [],
    offered: settings.rules === undefined ? new Map() : await readOffers(settings.rules),
    organizations: settings.organizations,
    grants: settings.grants,
    clock: systemClock,
  });
  return source.everyRule();
}
