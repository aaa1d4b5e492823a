import type { Client } from '../../../client/client.ts';
import type { Subject } from '../../../contract/events/subject.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
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
import { type CheckedForge, maxExamined, readExamined } from '../../../work/served.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning } from '../finding.ts';
import type { Examination } from './examination.ts';

/**
 * A repository whose CODEOWNERS has lines without a match, a sentence about these lines, and a rule that reads the
 * file.
 */
type Unmatched = { readonly repository: string; readonly text: string; readonly rule: LoadedRule };

/** Returns the repositories, in the scope of rules about code owners, whose CODEOWNERS has lines that match no file. */
async function findUnmatched(
  rules: readonly LoadedRule[],
  client: Client,
  repositories: readonly Repository[],
): Promise<readonly Unmatched[]> {
  const found: Unmatched[] = [];
  for (const live of repositories) {
    const repository = toRepositoryRef(live);
    const subject: Subject = { kind: 'repository', repository };
    const rule = rules.find((one) => isInScope(one, subject, createUnlimitedMeter()));
    if (rule === undefined) continue;
    const memory = createFactMemory(systemClock);
    const facts = createFacts({ client, subject, memory, clock: systemClock });
    const text = await readText(() => facts.ask(requestOf(codeownersProblems)));
    if (text !== '') found.push({ repository: live.full_name, text, rule });
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
  checked: CheckedForge,
): Promise<readonly Problem[]> {
  const { client, repositories, textOf } = checked;
  const wanted = rules.filter(
    (rule) => readsOwners(rule) && (rule.level === 'operator' || repositories.length > 0),
  );
  if (wanted.length === 0) return [];
  const found = await findUnmatched(wanted, client, await readExamined(checked));
  return found.map(({ repository, text, rule }) => {
    const message = `${repository}: ${text} A pattern is a regular expression of the whole path, such as lib/.*`;
    return problemAtLine({ code: 'codeowners-line', message, path: rule.source, line: rule.line }, textOf);
  });
}

/**
 * Checks CODEOWNERS for lines that match nothing, in the served repositories where the operator’s rules read the file.
 */
export async function checkCodeowners({ client, served, rules }: Examination): Promise<Finding> {
  const wanted = (await rules()).flatMap((file) => file.rules).filter(readsOwners);
  if (wanted.length === 0) return skipped('no rule of the operator reads CODEOWNERS');
  const repositories = (await served()).repositories.slice(0, maxExamined);
  if (repositories.length === 0) return skipped('no repository is served');
  const [first, ...others] = await findUnmatched(wanted, client, repositories);
  if (first === undefined)
    return ok(`every line of CODEOWNERS can match in ${count(repositories.length, 'repository')}`);
  const more = others.length === 0 ? '' : ` And in ${others.length} more.`;
  return warning(
    `${first.repository}: ${first.text}${more}`,
    'write patterns as regular expressions of the whole path, such as lib/.*',
  );
}
