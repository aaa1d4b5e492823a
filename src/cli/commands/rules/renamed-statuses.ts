import { formerContextOf, statusContextOf } from '../../../actions/status-context.ts';
import type { Client } from '../../../client/client.ts';
import type { RepositoryRef } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { statusContextsOf } from '../../../rules/files/warnings.ts';
import type { Problem } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { servedIn } from './unknown-labels.ts';

/** A required status of a rule of a level that has names of its own. */
const ofRule = /^reeve\/(?!queue$|rules$)([^*?[\]{}]+)$/;

/**
 * Returns a warning for each status `reeve/RULE` that a branch requires and no rule of the operator writes: rules of organizations
 * and repositories had these names before. Rules without a status ask nothing. The protections of the repositories are read, or what an account that does not
 * administer them sees of the default branch.
 */
export async function renamedStatuses(
  rules: readonly LoadedRule[],
  { client, repositories }: { readonly client: Client; readonly repositories: readonly string[] },
): Promise<readonly Problem[]> {
  if (!rules.some((rule) => statusContextsOf(rule).length > 0)) return [];
  const written = new Set(rules.filter(({ level }) => level === 'operator').flatMap(statusContextsOf));
  const own = new Set(rules.flatMap((rule) => formerContextOf({ rule: rule.name, level: rule.level }) ?? []));
  const found: Problem[] = [];
  for (const repository of (await orNothing(servedIn(client, repositories))) ?? []) {
    const name = `${repository.owner}/${repository.name}`;
    for (const [branch, contexts] of await requiredIn(client, repository)) {
      for (const context of contexts) {
        const [, rule] = ofRule.exec(context) ?? [];
        if (rule === undefined || written.has(context)) continue;
        const names = (['organization', 'repository'] as const)
          .filter((level) => level === 'repository' || !own.has(context))
          .map((level) => statusContextOf(undefined, { rule, level }));
        const message = `branch ${branch} requires the status ${context}, which no rule of the operator writes: require ${names.join(' or ')}, as rules below the operator's name it now`;
        found.push({
          code: 'required-context',
          message,
          path: name,
          line: 1,
          column: 1,
          source: '',
          width: 1,
        });
      }
    }
  }
  return found;
}

/** The contexts that branches require, each with the branch or the pattern of branches. */
type Required = readonly (readonly [branch: string, contexts: readonly string[]])[];

export async function requiredIn(client: Client, { owner, name: repo }: RepositoryRef): Promise<Required> {
  const params = { owner, repo };
  const protections = await orNothing(client.call(operations.listBranchProtections, { params }));
  if (protections)
    return protections
      .filter(({ enable_status_check }) => enable_status_check)
      .map(({ rule_name, status_check_contexts }) => [rule_name ?? '', status_check_contexts ?? []]);
  const repository = await orNothing(client.call(operations.getRepository, { params }));
  const branch = repository?.default_branch ?? '';
  const seen = await orNothing(client.call(operations.getBranch, { params: { ...params, branch } }));
  return seen?.enable_status_check ? [[branch, seen.status_check_contexts ?? []]] : [];
}

/** Returns undefined for what is not there, or not shown to the account: this is advice, and no other check depends on it. */
export async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return undefined;
  }
}
