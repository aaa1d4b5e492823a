import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { findAccessGaps, possibleWants, starredAccess, toRepositoryAccess } from './access.ts';

/** What warnings about rules on a forge are made from. */
export type CheckedForge = {
  readonly client: Client;
  /** Names of repositories, as `owner/name`; empty: those that the account has starred. */
  readonly repositories: readonly string[];
  /** Returns the text of a rule file. */
  readonly textOf: (path: string) => string;
};

/**
 * Returns a warning for each rule that names a fact which the account may not read in a repository of its scope: those
 * given by name, or those that the account has starred.
 */
export async function missingAccess(
  rules: readonly LoadedRule[],
  { client, repositories, textOf }: CheckedForge,
): Promise<readonly Problem[]> {
  const isAsked = (rule: LoadedRule): boolean =>
    (rule.level === 'operator' || repositories.length > 0) &&
    possibleWants(rule).some(({ needed }) => needed === 'writer' || needed === 'admin');
  const wanted = rules.filter(isAsked);
  if (wanted.length === 0) return [];
  const gaps = findAccessGaps(wanted, await readAccess(client, repositories), possibleWants);
  return wanted.flatMap((rule) => {
    const [first, ...others] = gaps.filter((gap) => gap.rule === rule);
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `rule ${rule.name}: ${first.what} needs ${first.needed} access, and the account is ${first.held} in ${first.repository}${more}: the rule can fail there`;
    return [problemAtLine({ code: 'access', message, path: rule.source, line: rule.line }, textOf)];
  });
}

async function readAccess(client: Client, names: readonly string[]) {
  if (names.length === 0) {
    const { login } = await client.call(operations.getSelf, {});
    return starredAccess(client, login);
  }
  const read = names.map((name) => {
    const [owner = '', repo = ''] = name.split('/');
    return client.call(operations.getRepository, { params: { owner, repo } });
  });
  return (await Promise.all(read)).map(toRepositoryAccess);
}
