import type { Action } from '../../../actions/action.ts';
import type { Access } from '../../../contract/operation.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { factsOfRule } from '../../../rules/needs.ts';
import { type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { type CheckedForge, readExamined } from '../served.ts';
import type { Examination } from './examination.ts';

/** Access levels in a repository, from least to most. */
const ranks: readonly Access[] = ['reader', 'writer', 'admin'];
type RepositoryAccess = { readonly full_name: string; readonly held: Access };
type AccessGap = {
  readonly repository: string;
  readonly held: Access;
  readonly needed: Access;
  /** What needs the access: `action comment`, `fact approvals`. */
  readonly what: string;
  readonly rule: LoadedRule;
};

/** Checks that, in each served repository, the account has the access that the operator’s rules need there. */
export async function checkAccess({ served, rules }: Examination): Promise<Finding> {
  const loaded = (await rules()).flatMap((file) => file.rules);
  if (loaded.length === 0) return skipped('there are no rules of the operator');
  const { repositories: found, isWhole } = await served();
  if (found.length === 0) return skipped('no repository is served');
  const repositories = found.map(toRepositoryAccess);
  const gaps = findAccessGaps(loaded, repositories);
  const [first] = gaps;
  if (first === undefined) {
    const places = `${isWhole ? '' : 'the first '}${count(repositories.length, 'repository')}`;
    return ok(`the account has, in ${places}, the access that ${describeNeededAccess(loaded)}`);
  }
  return wrong(
    `in ${first.repository} the account is ${first.held}, and rule ${first.rule.name} needs ${first.needed} for ${first.what}${gaps.length > 1 ? `; ${gaps.length - 1} more` : ''}`,
    'give the account that permission there, or restrict the rule with in',
  );
}

/** For repositories and for organizations, only the highest needed access is shown, because it includes the others. */
const places: readonly (readonly Access[])[] = [
  ['admin', 'writer', 'reader'],
  ['owner', 'member'],
];

/** Returns the access that all rules need together, with one rule and its fact or action that needs the access. */
export function describeNeededAccess(rules: readonly LoadedRule[]): string {
  const wants = rules.flatMap((rule) =>
    [...allWants(rule), ...possibleWants(rule)].map((want) => ({ ...want, rule: rule.name })),
  );
  const most = places.flatMap((ranked) => {
    const found = ranked.map((access) => wants.find(({ needed }) => needed === access));
    const first = found.find((one) => one !== undefined);
    return first ? [`${first.needed} (for rule ${first.rule}, ${first.what})`] : [];
  });
  const subject = count(rules.length, 'rule');
  const verb = rules.length === 1 ? 'needs' : 'need';
  return `${subject} ${verb}: ${most.length === 0 ? 'none' : most.join(', and in the organization ')}`;
}

/** Returns the access that the arguments of a step need beyond the access that its action needs. */
function moreAccess(action: Action, written: unknown): readonly Access[] {
  const given = new Set(Object.keys(typeof written === 'object' && written !== null ? written : {}));
  return Object.entries(action.moreAccess ?? {}).flatMap(([name, access]) =>
    given.has(name) ? [access] : [],
  );
}

/** Returns the caller's access to a repository that the caller has read. */
function toRepositoryAccess({ full_name, permissions }: Repository): RepositoryAccess {
  return { full_name, held: permissions?.admin ? 'admin' : permissions?.push ? 'writer' : 'reader' };
}

/** Returns the rules that need more access to a repository than the account has. */
function findAccessGaps(
  rules: readonly LoadedRule[],
  repositories: readonly RepositoryAccess[],
  wantsOf: (rule: LoadedRule) => readonly AccessWant[] = allWants,
): readonly AccessGap[] {
  return repositories.flatMap((repository) =>
    rules.flatMap((rule) => gapOf(repository, rule, wantsOf(rule))),
  );
}

/** A part of a rule that needs access. */
type AccessWant = Pick<AccessGap, 'needed' | 'what'>;

/** Returns the access that the facts of a rule need. */
function factWants(rule: LoadedRule): readonly AccessWant[] {
  return factsOfRule(rule).map(({ name, needs }) => ({ needed: needs.access, what: `fact ${name}` }));
}

/**
 * Returns the access that the facts of a rule may need, including facts whose needed access depends on the repository.
 */
function possibleWants(rule: LoadedRule): readonly AccessWant[] {
  return factsOfRule(rule).map(({ name, needs }) => ({
    needed: needs.sometimes ?? needs.access,
    what: `fact ${name}`,
  }));
}

function allWants(rule: LoadedRule): readonly AccessWant[] {
  const ofActions = rule.steps.flatMap(({ action, arguments: given }) =>
    [action.needs.access, ...moreAccess(action, given.written)].map((needed) => ({
      needed,
      what: `action ${action.name}`,
    })),
  );
  return [...ofActions, ...factWants(rule)];
}

function gapOf(
  { full_name, held }: RepositoryAccess,
  rule: LoadedRule,
  wants: readonly AccessWant[],
): readonly AccessGap[] {
  const meter = createUnlimitedMeter();
  if (!rule.scopes.every((scope) => scope.matches(full_name, meter))) return [];
  const [most] = wants
    .filter(({ needed }) => ranks.indexOf(needed) > ranks.indexOf(held))
    .sort((a, b) => ranks.indexOf(b.needed) - ranks.indexOf(a.needed));
  return most === undefined ? [] : [{ repository: full_name, held, rule, ...most }];
}

/**
 * Returns a warning for each rule with a fact that the account may not read in a repository in the rule's scope. The
 * repositories are those given by name, otherwise the served ones.
 */
export async function missingAccess(
  rules: readonly LoadedRule[],
  checked: CheckedForge,
): Promise<readonly Problem[]> {
  const { repositories, textOf } = checked;
  const isAsked = (rule: LoadedRule): boolean =>
    (rule.level === 'operator' || repositories.length > 0) &&
    possibleWants(rule).some(({ needed }) => needed === 'writer' || needed === 'admin');
  const wanted = rules.filter(isAsked);
  if (wanted.length === 0) return [];
  const examined = (await readExamined(checked)).map(toRepositoryAccess);
  const gaps = findAccessGaps(wanted, examined, possibleWants);
  return wanted.flatMap((rule) => {
    const [first, ...others] = gaps.filter((gap) => gap.rule === rule);
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `rule ${rule.name}: ${first.what} needs ${first.needed} access, and the account is ${first.held} in ${first.repository}${more}: the rule can fail there`;
    return [problemAtLine({ code: 'access', message, path: rule.source, line: rule.line }, textOf)];
  });
}
