import type { Action } from '../../actions/action.ts';
import type { Access } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { count } from '../../output/terminal.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import { type Finding, ok, skipped, wrong } from '../finding.ts';
import type { Examination } from './examination.ts';

/** What an action in a repository may need, from least to most. */
const ranks: readonly Access[] = ['reader', 'writer', 'admin'];
type RepositoryAccess = { readonly full_name: string; readonly held: Access };
type Gap = {
  readonly repository: string;
  readonly held: Access;
  readonly needed: Access;
  readonly rule: string;
};

/** Looks whether the account may do in each starred repository what the operator’s rules would do there. */
export async function checkAccess({ client, account, rules }: Examination): Promise<Finding> {
  const loaded = (await rules()).flatMap((file) => file.rules);
  if (loaded.length === 0) return skipped('there are no rules of the operator');
  const repositories: RepositoryAccess[] = [];
  const params = { username: (await account()).login };
  for await (const { full_name, archived, permissions } of client.items(operations.listStarred, { params })) {
    const held: Access = permissions?.admin ? 'admin' : permissions?.push ? 'writer' : 'reader';
    if (!archived) repositories.push({ full_name, held });
  }
  const gaps = repositories.flatMap((repository) => loaded.flatMap((rule) => gapOf(repository, rule)));
  const [first] = gaps;
  if (first === undefined) {
    return ok(
      `the account has the access that ${count(loaded.length, 'rule')} needs, in ${count(repositories.length, 'repository').replace(/ys$/, 'ies')}`,
    );
  }
  return wrong(
    `in ${first.repository} the account is ${first.held}, and rule ${first.rule} needs ${first.needed}${gaps.length > 1 ? `; ${gaps.length - 1} more` : ''}`,
    'give the account that permission there, or restrict the rule with in',
  );
}

/** Access that the arguments of a step need beyond what its action needs. */
function moreAccess(action: Action, written: unknown): readonly Access[] {
  const given = new Set(Object.keys(typeof written === 'object' && written !== null ? written : {}));
  return Object.entries(action.moreAccess ?? {}).flatMap(([name, access]) =>
    given.has(name) ? [access] : [],
  );
}

function gapOf({ full_name, held }: RepositoryAccess, rule: LoadedRule): readonly Gap[] {
  const meter = createUnlimitedMeter();
  if (!rule.scopes.every((scope) => scope.matches(full_name, meter))) return [];
  const needed = rule.steps
    .flatMap(({ action, arguments: given }) => [action.needs.access, ...moreAccess(action, given.written)])
    .filter((access) => ranks.indexOf(access) > ranks.indexOf(held))
    .sort((a, b) => ranks.indexOf(b) - ranks.indexOf(a))[0];
  return needed === undefined ? [] : [{ repository: full_name, held, needed, rule: rule.name }];
}
