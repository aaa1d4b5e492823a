import type { Client } from '../../../client/client.ts';
import type { Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { createFactMemory, createFacts } from '../../../facts/ask.ts';
import { codeowners, codeownersProblems } from '../../../facts/codeowners.ts';
import { requestOf } from '../../../facts/fact.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { isInScope } from '../../../rules/match.ts';
import { requestsOfRule } from '../../../rules/needs.ts';
import { type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning } from '../finding.ts';
import { type CheckedForge, starredAccess } from './access.ts';
import type { Examination } from './examination.ts';

/** Maximum number of repositories examined. Each costs a few requests. */
const maxRepositories = 100;

/**
 * A repository whose CODEOWNERS has lines without a match, a sentence about these lines, and a rule that reads the
 * file.
 */
type Unmatched = { readonly repository: string; readonly text: string; readonly rule: LoadedRule };

/** Returns the repositories, in the scope of rules about code owners, whose CODEOWNERS has lines that match no file. */
async function findUnmatched(
  rules: readonly LoadedRule[],
  client: Client,
  names: readonly string[],
): Promise<readonly Unmatched[]> {
  const found: Unmatched[] = [];
  for (const name of names.slice(0, maxRepositories)) {
    const [owner = '', repo = ''] = name.split('/');
    const repository = toRepositoryRef(
      await client.call(operations.getRepository, { params: { owner, repo } }),
    );
    const subject: Subject = { kind: 'repository', repository };
    const rule = rules.find((one) => isInScope(one, subject, createUnlimitedMeter()));
    if (rule === undefined) continue;
    const memory = createFactMemory(systemClock);
    const facts = createFacts({ client, subject, memory, clock: systemClock });
    const text = await readText(() => facts.ask(requestOf(codeownersProblems)));
    if (text !== '') found.push({ repository: name, text, rule });
  }
  return found;
}

/** Returns the sentence about the lines. For a file that is too large, this is the message of the error. */
async function readText(ask: () => Promise<{ readonly text: string }>): Promise<string> {
  try {
    return (await ask()).text;
  } catch (error) {
    if (error instanceof ReeveError) throw error;
    return error instanceof Error ? `${error.message}.` : '';
  }
}

function readsOwners(rule: LoadedRule): boolean {
  const isOwnersStep = rule.steps.some(
    ({ arguments: { written } }) =>
      typeof written === 'object' && written !== null && Reflect.get(written, 'from') === 'codeowners',
  );
  return isOwnersStep || requestsOfRule(rule).some(({ name }) => name === codeowners.name);
}

/** Returns a warning for each repository in which rules about code owners read lines that match nothing. */
export async function unmatchedOwners(
  rules: readonly LoadedRule[],
  { client, repositories, textOf }: CheckedForge,
): Promise<readonly Problem[]> {
  const wanted = rules.filter(
    (rule) => readsOwners(rule) && (rule.level === 'operator' || repositories.length > 0),
  );
  if (wanted.length === 0) return [];
  const names = repositories.length > 0 ? repositories : await starredNames(client);
  const found = await findUnmatched(wanted, client, names);
  return found.map(({ repository, text, rule }) => {
    const message = `${repository}: ${text} A pattern is a regular expression of the whole path, such as lib/.*`;
    return problemAtLine({ code: 'codeowners-line', message, path: rule.source, line: rule.line }, textOf);
  });
}

async function starredNames(client: Client): Promise<readonly string[]> {
  const { login } = await client.call(operations.getSelf, {});
  return (await starredAccess(client, login)).map(({ full_name }) => full_name);
}

/**
 * Checks CODEOWNERS for lines that match nothing, in the starred repositories where the operator’s rules read the file.
 */
export async function checkCodeowners({ client, rules }: Examination): Promise<Finding> {
  const wanted = (await rules()).flatMap((file) => file.rules).filter(readsOwners);
  if (wanted.length === 0) return skipped('no rule of the operator reads CODEOWNERS');
  const names = await starredNames(client);
  const [first, ...others] = await findUnmatched(wanted, client, names);
  if (first === undefined)
    return ok(
      `every line of CODEOWNERS can match in ${count(names.length, 'repository').replace(/ys$/, 'ies')}`,
    );
  const more = others.length === 0 ? '' : ` And in ${others.length} more.`;
  return warning(
    `${first.repository}: ${first.text}${more}`,
    'write patterns as regular expressions of the whole path, such as lib/.*',
  );
}
