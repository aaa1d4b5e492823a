import { resolve } from 'node:path';
import { findAccount } from '../../../client/client.ts';
import { systemClock } from '../../../platform/clock.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { formatProblem } from '../../../rules/problem.ts';
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

/** Rules as they run for open issues and pull requests, and those that cannot. */
export type OpenRules = {
  readonly found: readonly { readonly rule: LoadedRule; readonly open: OpenParts }[];
  readonly left: readonly { readonly rule: LoadedRule; readonly why: string }[];
};

/** Which rules run for what is open: one by name, those of some files, or all of the operator. */
export type OpenChoice = {
  readonly name?: string | undefined;
  /** Rule files and folders, instead of REEVE_RULES. */
  readonly paths?: readonly string[] | undefined;
  /** Whether the rules are to write: then the files have to be in force. */
  readonly writes: boolean;
};

/**
 * Returns the chosen rules, as they run for open issues and pull requests. Throws `usage` if there is none that can, if
 * the rule that is named cannot, or if a file is to write that is not in force.
 */
export async function findOpenRules(
  { name, paths, writes }: OpenChoice,
  settings: Settings,
): Promise<OpenRules> {
  if (name !== undefined && paths === undefined) {
    const rule = await findRule(name, settings, () => true);
    const open = onOpenItems(rule);
    if ('parts' in open) return { found: [{ rule, open: open.parts }], left: [] };
    throw new ReeveError('usage', `the rule ${rule.name} cannot run on what is open: ${open.why}`);
  }
  const all =
    paths === undefined ? await readOperatorRules(settings) : await rulesOfFiles(paths, writes, settings);
  const chosen = name === undefined ? all : all.filter((rule) => rule.id === name || rule.name === name);
  const found: OpenRules['found'][number][] = [];
  const left: OpenRules['left'][number][] = [];
  for (const rule of chosen) {
    const open = onOpenItems(rule);
    if ('parts' in open) found.push({ rule, open: open.parts });
    else left.push({ rule, why: open.why });
  }
  if (found.length > 0) return { found, left };
  const where = paths?.join(', ') ?? settings.rules;
  throw new ReeveError(
    'usage',
    where === undefined
      ? 'name a rule or --rules FILE, or set REEVE_RULES to the folder or file with rules of the operator'
      : `no rule${name === undefined ? '' : ` "${name}"`} of ${where} can run on what is open${left.map(({ rule, why }) => `\n  ${rule.name}: ${why}`).join('')}`,
  );
}

/**
 * Returns the rules of files. A file that is to write has to be in force, because only then the server that runs its
 * rules knows them.
 */
async function rulesOfFiles(
  paths: readonly string[],
  writes: boolean,
  settings: Settings,
): Promise<readonly LoadedRule[]> {
  const files = await loadRuleFiles(paths, { isOperators: true });
  const [problem] = files.flatMap(({ problems }) => problems);
  if (problem) throw new ReeveError('usage', `${formatProblem(problem)}\nreeve check lists all problems`);
  if (!writes) return files.flatMap(({ rules }) => rules);
  const inForce = await readOperatorRules(settings);
  return files.flatMap(({ path }) => {
    const rules = inForce.filter(({ source }) => resolve(source) === resolve(path));
    if (rules.length > 0) return rules;
    throw new ReeveError(
      'usage',
      `${path} is not in force, so that it writes nothing: --plan shows what it would do; REEVE_RULES names the folder or file that is in force`,
    );
  });
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
