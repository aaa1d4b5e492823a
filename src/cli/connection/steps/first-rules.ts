import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { packageRoot } from '../../../platform/package.ts';
import { nearest } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import { findBlindSpots } from '../../../work/alarms/blind-spots.ts';
import { readServed } from '../../../work/served.ts';
import { confirm, type Prompt } from '../../output/prompt.ts';
import { count, type Terminal } from '../../output/terminal.ts';
import { type Finding, ok, warning } from '../finding.ts';
import type { Answers } from './answers.ts';

/** Folder of the rule files that ship with Reeve. */
const shipped = join(packageRoot, 'rules');

/** Rule files to offer first: useful for one person with one repository, and nothing in them has to be adapted. */
const offered = [
  ...['triage', 'labels', 'branch-labels', 'title', 'welcome'],
  ...['stale-issues', 'stale-pulls', 'auto-merge'],
];
/** The answer of an empty line. */
const standardAnswer = 'triage labels';
/** Number of answers with an unknown name that are asked for again. */
const maxAnswers = 3;

/**
 * Asks which shipped rule files to begin with. Returns their names; empty for `none`. Throws `usage` if every answer
 * has an unknown name.
 */
export async function askFirstRules(prompt: Prompt, terminal: Terminal): Promise<readonly string[]> {
  terminal.error('Rules to begin with. At first, they only show what they would change (mode observe):');
  for (const name of offered) terminal.error(`  ${name.padEnd(14)} ${await firstSentence(name)}`);
  terminal.error('More: docs/recipes.md and the folder rules of the package.');
  for (let asked = 1; ; asked += 1) {
    const answer = await prompt.ask('Names of rules, or none', { standard: standardAnswer });
    const names = answer.split(/[\s,]+/).filter((name) => name !== '' && name !== 'none');
    try {
      await requireShipped(names);
      return names;
    } catch (error) {
      if (!(error instanceof ReeveError) || asked === maxAnswers) throw error;
      terminal.error(error.message);
    }
  }
}

async function firstSentence(name: string): Promise<string> {
  const text = await readFile(join(shipped, `${name}.yml`), 'utf8');
  const [comment = ''] = /^(?:#.*\n)+/.exec(text) ?? [];
  const [sentence = ''] = /^.*?\.(?= |$)/.exec(comment.replace(/\n?# ?/g, ' ').trim()) ?? [];
  return sentence;
}

async function namesOfShipped(): Promise<readonly string[]> {
  const files = await readdir(shipped);
  return files.filter((file) => /^[\w-]+\.yml$/.test(file)).map((file) => file.replace(/\.yml$/, ''));
}

async function requireShipped(names: readonly string[]): Promise<void> {
  const known = await namesOfShipped();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const hint =
    near === undefined
      ? 'docs/recipes.md lists those that do; a folder or file of your own has to exist'
      : `did you mean "${near}"?`;
  throw new ReeveError('usage', `no rule file "${unknown}" ships with Reeve; ${hint}`);
}

/**
 * Separates the answer to `--rules`: names of shipped rule files, and at most one folder or file of own rules. A word is
 * a path if it contains a slash, or if it is no shipped name and exists. Throws `usage` for a path that does not exist,
 * for several, and for the folder of all shipped rules.
 */
export async function sortFirstRules(
  words: readonly string[],
): Promise<{ readonly own: string | undefined; readonly names: readonly string[] }> {
  const known = await namesOfShipped();
  const isPath = (word: string): boolean =>
    word.includes('/') || word.includes(sep) || (!known.includes(word) && existsSync(word));
  const paths = words.filter(isPath);
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new ReeveError('usage', `there is no folder or file ${missing}`);
  if (paths.length > 1)
    throw new ReeveError(
      'usage',
      `REEVE_RULES is one folder or one file, and these are ${paths.length}: ${paths.join(', ')}; move the files into one folder`,
    );
  const own = paths[0] === undefined ? undefined : resolve(paths[0]);
  if (own === join(shipped, '.'))
    throw new ReeveError(
      'usage',
      `${own} has every rule that ships with Reeve: name those to begin with, or another folder`,
    );
  return { own, names: words.filter((word) => !isPath(word)) };
}

/** Returns the finding about a folder or file of own rules that `REEVE_RULES` names from now on. */
export function ownRulesFinding(own: string, before: string | undefined, plan: boolean): Finding {
  if (before !== undefined && resolve(before) === own) return ok(`REEVE_RULES is ${own}`);
  const text = plan ? `REEVE_RULES would be ${own}` : `REEVE_RULES is ${own} now`;
  if (!before) return { state: plan ? 'planned' : 'changed', text };
  return warning(
    `${text}, and the rules of ${before} are no longer in force`,
    `to keep them, move their files to ${own}, or set REEVE_RULES to ${before} again`,
  );
}

/** Returns the folder for the first rules: the one of the settings, otherwise one beside the env file. */
export function folderOfRules({ environment, envFile }: Answers): string {
  // Not "rules": in a checkout, that is the folder of all rules that ship, and every one of them would be in force.
  return environment.REEVE_RULES || join(dirname(envFile), 'reeve-rules');
}

/**
 * Copies shipped rule files into the folder of the operator's rules, in the mode `observe`: they show what they would
 * change, and change nothing until a person removes that line. Files that exist are left as they are. Throws `usage`
 * for an unknown name, and for a path where they cannot be copied.
 */
export async function copyFirstRules(
  names: readonly string[],
  folder: string,
  plan: boolean,
): Promise<Finding> {
  await requireShipped(names);
  if (join(folder, '.') === join(shipped, '.'))
    throw new ReeveError(
      'usage',
      `REEVE_RULES is ${folder}, which has every rule that ships with Reeve: set another folder`,
    );
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new ReeveError(
      'usage',
      `REEVE_RULES is the file ${folder}: set a folder, and move the file into it`,
    );
  const missing = names.filter((name) => !existsSync(join(folder, `${name}.yml`)));
  if (missing.length === 0) return ok(`${names.join(', ')}: already in ${folder}`);
  const files = missing.map((name) => `${name}.yml`).join(', ');
  if (plan) return { state: 'planned', text: `${files} would be copied to ${folder}, in mode observe` };
  await mkdir(folder, { recursive: true });
  for (const name of missing) {
    const text = await readFile(join(shipped, `${name}.yml`), 'utf8');
    // Not over a file that was created meanwhile.
    await writeFile(join(folder, `${name}.yml`), inObserveMode(text), { flag: 'wx' });
  }
  return { state: 'changed', text: `${files} copied to ${folder}, in mode observe` };
}

function inObserveMode(text: string): string {
  return text.replace(/^version: 1\n/m, 'version: 1\nmode: observe\n');
}

/** Loads the operator's rules. `planned`: names of shipped files that a plan would copy, which are loaded as well. */
export async function loadFirstRules(
  folder: string | undefined,
  planned: readonly string[],
): Promise<readonly LoadedRule[]> {
  if (!folder) return [];
  const paths = planned.length === 0 || existsSync(folder) ? [folder] : [];
  const copies = planned
    .filter((name) => !existsSync(join(folder, `${name}.yml`)))
    .map((name) => join(shipped, `${name}.yml`));
  const files = await loadRuleFiles([...paths, ...copies], { isOperators: true });
  return files.flatMap(({ rules }) => rules);
}

/** Colour of labels that setup creates: a grey that is readable in light and dark themes. */
const labelColour = '8f96a3';
/** Maximum number of names in a text. */
const maxNamed = 12;

/**
 * Creates the labels that the operator's rules set or wait for and that do not exist in served repositories, because a
 * rule fails for a missing label, and a condition never holds. Nothing is created without consent: `isWanted` (undefined: not decided), otherwise the answer at
 * the terminal. Returns undefined if no label is missing.
 */
export async function createMissingLabels(
  client: Client,
  rules: readonly LoadedRule[],
  options: {
    readonly listed: readonly string[];
    readonly isWanted: boolean | undefined;
    readonly prompt: Prompt | undefined;
    readonly plan: boolean;
  },
): Promise<Finding | undefined> {
  const { listed, isWanted, prompt, plan } = options;
  const { repositories, isWhole } = await readServed(client, listed);
  const spots = await findBlindSpots(rules, { client, repositories, isWhole });
  const missing = spots.flatMap((spot) => spot.missing ?? []);
  const pairs = new Map(
    missing.flatMap(({ label, repositories }) =>
      repositories.map((repository) => [`${repository} ${label}`.toLowerCase(), { repository, label }]),
    ),
  );
  if (pairs.size === 0) return undefined;
  const labels = [...new Set(missing.map(({ label }) => label))];
  const places = [...new Set(missing.flatMap(({ repositories }) => repositories))];
  const text = `${shortList(labels)} in ${shortList(places)}`;
  if (plan && isWanted) return { state: 'planned', text: `would create ${text}` };
  const question = `Create the missing labels ${text}?`;
  const isAgreed = isWanted ?? (prompt !== undefined && !plan && (await confirm(prompt, question)));
  if (!isAgreed)
    return warning(
      `missing labels: ${text}; a rule that sets one fails there`,
      'reeve setup --create-labels creates them; or remove them from the rules',
    );
  for (const { repository, label } of pairs.values()) {
    const [owner = '', repo = ''] = repository.split('/');
    const body = { name: label, color: labelColour };
    await client.call(operations.createLabel, { params: { owner, repo }, body });
  }
  return { state: 'changed', text: `created ${count(pairs.size, 'label')}: ${text}` };
}

/** Returns the first names as a list, and the number of the others. */
export function shortList(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}
