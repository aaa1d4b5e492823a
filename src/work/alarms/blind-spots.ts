import type { Action } from '../../actions/action.ts';
import type { Client } from '../../client/client.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import type { Access } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { Repository } from '../../contract/resources/repositories.ts';
import { createFactMemory, createFacts } from '../../facts/ask.ts';
import { requestOf } from '../../facts/fact.ts';
import { labelDefinitions } from '../../facts/label-definitions.ts';
import { team } from '../../facts/organization.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { systemClock } from '../../platform/clock.ts';
import { isDenied, ReeveError } from '../../platform/errors.ts';
import { labelsAwaited, labelsNamedBy } from '../../rules/files/warnings.ts';
import { isInScope } from '../../rules/match.ts';
import { factsOfRule, requestsOfRule } from '../../rules/needs.ts';
import { type LoadedRule, type LoadedStep, visits } from '../../rules/rule.ts';
import { maxExamined } from '../served.ts';
import { refusedAsFailure, type ServedBy, toRepositoryRef } from '../sweeps/targets/repositories.ts';
import { createEmptyRunnerMemory } from '../sweeps/targets/runner-memory.ts';
import { eachTarget } from '../sweeps/targets/targets.ts';
import { findMissingObjects } from './named-objects.ts';

/** Something that a rule needs and that its account cannot see or do. */
export type BlindSpot = {
  readonly rule: LoadedRule;
  /** Line of the rule or of the step. */
  readonly line: number;
  readonly code: 'scope' | 'runners' | 'access' | 'unknown-label' | 'unknown-object';
  /** True if the rule does not see what it is about; false if it sees it and cannot act. */
  readonly isBlind: boolean;
  /** One sentence without a full stop, and without the name of the rule. May name private repositories. */
  readonly text: string;
  /** The remedy. */
  readonly advice: string;
  /** A label that a step sets or a condition waits for, and the full names of the repositories in which it is missing. */
  readonly missing?: { readonly label: string; readonly repositories: readonly string[] };
};

/** Where to look for blind spots. */
export type Look = {
  readonly client: Client;
  readonly repositories: readonly Repository[];
  /** How runners and organizations are listed; absent: only the given repositories are examined, and none of these. */
  readonly served?: ServedBy | undefined;
  /** Whether these are all served repositories; only then it is known that a rule includes none. */
  readonly isWhole: boolean;
};

/**
 * Returns the blind spots of rules in these repositories. Reads the labels of at most `maxExamined` repositories, the
 * lists of runners if a rule visits runners, the permissions of the account in at most `maxExamined` organizations if
 * a rule needs access to organizations, and the members of at most `maxExamined` teams that expressions name. Rejects if
 * the forge fails; a refusal is a blind spot.
 */
export async function findBlindSpots(
  rules: readonly LoadedRule[],
  look: Look,
): Promise<readonly BlindSpot[]> {
  return [
    ...scopeSpots(rules, look),
    ...(await runnerSpots(rules, look)),
    ...(await organizationSpots(rules, look)),
    ...(await teamSpots(rules, look)),
    ...accessSpots(rules, look),
    ...(await ownershipSpots(rules, look)),
    ...(await labelSpots(rules, look)),
    ...(await objectSpots(rules, look)).spots,
  ];
}

/**
 * Returns a spot for each team and repository that a step names and that the account does not find, and why the teams of
 * an organization could not be listed: of these, nothing is known.
 */
export async function objectSpots(
  rules: readonly LoadedRule[],
  { client, repositories }: Pick<Look, 'client' | 'repositories'>,
): Promise<{ readonly spots: readonly BlindSpot[]; readonly unread: readonly string[] }> {
  const places = repositories.slice(0, maxExamined).map(toRepositoryRef);
  const placesOf = (rule: LoadedRule) => places.filter((repository) => includes(rule, repository));
  const { missing, unread } = await findMissingObjects(rules, client, placesOf);
  const spots = missing.map(({ text, ...place }) => ({
    ...place,
    code: 'unknown-object' as const,
    isBlind: false,
    text: `${text}: the rule fails there`,
    advice: 'create it, give the account access to it, or correct the name in the rule',
  }));
  return { spots, unread };
}

/** What lets an account read the members of a team. */
export const teamsAdvice =
  'make the account a member of the organization by a team of its own, and give the team that the rule names the visibility limited, or put the account into that team; or correct the name in the rule';

/**
 * Returns a spot for each team that an expression of a rule reads and that the forge refuses. It asks for the fact as a
 * run does, because being a member of the organization is not enough: a team can be hidden from other members.
 */
export async function teamSpots(
  rules: readonly LoadedRule[],
  { client, repositories }: Pick<Look, 'client' | 'repositories'>,
): Promise<readonly BlindSpot[]> {
  const places = repositories.map(toRepositoryRef);
  const asked = new Map<string, Promise<string | undefined>>();
  const spots: BlindSpot[] = [];
  for (const rule of rules) {
    const isHere = visits(rule, 'organization') || places.some((repository) => includes(rule, repository));
    if (!isHere) continue;
    for (const { name, argument } of requestsOfRule(rule)) {
      if (name !== team.name || argument === undefined) continue;
      const key = argument.toLowerCase();
      if (!asked.has(key) && asked.size >= maxExamined) continue;
      const asking = asked.get(key) ?? whyUnread(client, argument);
      asked.set(key, asking);
      const why = await asking;
      if (why === undefined) continue;
      const text = `cannot read team("${argument}"): ${why}`;
      spots.push({ rule, line: rule.line, code: 'access', isBlind: true, text, advice: teamsAdvice });
    }
  }
  return spots;
}

/** Returns why the forge refuses the members of a team; undefined if it does not. */
async function whyUnread(client: Client, argument: string): Promise<string | undefined> {
  const [owner = ''] = argument.split('/');
  const clock = systemClock;
  const subject: Subject = { kind: 'organization', organization: owner };
  try {
    await createFacts({ client, subject, memory: createFactMemory(clock), clock }).ask(
      requestOf(team, argument),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return error.message;
  }
}

/** Items of rules that do not belong to one repository. */
const elsewhere: ReadonlySet<string> = new Set(['organization', 'notification', 'runner']);

function scopeSpots(rules: readonly LoadedRule[], { repositories, isWhole }: Look): readonly BlindSpot[] {
  if (!isWhole || repositories.length === 0) return [];
  const names = repositories.map(toRepositoryRef);
  return rules.flatMap((rule) => {
    if (rule.scopes.length === 0 || rule.each?.some(({ kind }) => elsewhere.has(kind))) return [];
    if (names.some((repository) => includes(rule, repository))) return [];
    const written = rule.scopes.flatMap((scope) => scope.written).join(', ');
    const served = repositories.length === 1 ? 'the served repository' : 'any of the served repositories';
    return [
      {
        rule,
        line: rule.line,
        code: 'scope' as const,
        isBlind: true,
        text: `in: ${written} does not include ${served}: the rule never runs`,
        advice: 'correct in, or serve the repository',
      },
    ];
  });
}

function includes(rule: LoadedRule, repository: RepositoryRef): boolean {
  return isInScope(rule, { kind: 'repository', repository }, createUnlimitedMeter());
}

/** What the lists of runners need, the same on Gitea and Forgejo. */
export const runnersAdvice =
  'runners of an organization need an owner of it (read:organization), those of a repository an administrator of it (read:repository), those of a person that person (read:user), those of the instance a site administrator (read:admin)';

/** Returns a spot for each rule about runners that sees none, or that the forge refuses a list. */
async function runnerSpots(rules: readonly LoadedRule[], look: Look): Promise<readonly BlindSpot[]> {
  if (look.served === undefined) return [];
  const seenBy = new Map<string, Promise<TargetView>>();
  const spots: BlindSpot[] = [];
  for (const rule of rules.filter((one) => visits(one, 'runner'))) {
    const scope = JSON.stringify(rule.scopes.map(({ written }) => written));
    const viewed = seenBy.get(scope) ?? viewTargets(rule, 'runner', { ...look, served: look.served });
    seenBy.set(scope, viewed);
    const { seen, refused } = await viewed;
    const reason = refused.length === 0 ? '' : ` (${refused.join('; ')})`;
    const text =
      seen === 0
        ? `sees no runner${reason}`
        : refused.length > 0
          ? `does not see all runners${reason}`
          : undefined;
    if (text !== undefined)
      spots.push({ rule, line: rule.line, code: 'runners', isBlind: true, text, advice: runnersAdvice });
  }
  return spots;
}

/** What an account lacks that is no member of any organization of a rule. */
export const organizationsAdvice =
  'make the account a member of the organization, in a team with the access that the rule needs, or correct in';

/** Returns a spot for each rule about organizations that sees none, or not one that it names. */
export async function organizationSpots(
  rules: readonly LoadedRule[],
  { client, served }: Pick<Look, 'client' | 'served'>,
): Promise<readonly BlindSpot[]> {
  if (served === undefined) return [];
  const spots: BlindSpot[] = [];
  for (const rule of rules.filter((one) => visits(one, 'organization'))) {
    const { seen, refused } = await viewTargets(rule, 'organization', { client, served });
    if (seen > 0 && refused.length === 0) continue;
    const reason =
      refused.length === 0 ? 'the account is a member of none that in includes' : refused.join('; ');
    const text = `${seen === 0 ? 'sees no organization' : 'does not see all organizations'} (${reason})`;
    const advice = organizationsAdvice;
    spots.push({ rule, line: rule.line, code: 'access', isBlind: true, text, advice });
  }
  return spots;
}

/** Number of runners or organizations that a rule sees, and the refused lists. */
type TargetView = { readonly seen: number; readonly refused: readonly string[] };

/** Lists the runners or organizations as a sweep of this rule would. */
async function viewTargets(
  rule: LoadedRule,
  kind: 'runner' | 'organization',
  { client, served }: { readonly client: Client; readonly served: ServedBy },
): Promise<TargetView> {
  const pages = eachTarget([{ kind }], {
    client,
    served,
    rule,
    isInScope: (subject) => isInScope(rule, subject, createUnlimitedMeter()),
    runners: createEmptyRunnerMemory(),
    now: new Date(),
    from: undefined,
  });
  let seen = 0;
  const refused: string[] = [];
  for await (const { targets, failures = [] } of refusedAsFailure(pages)) {
    seen += targets.length;
    for (const { item, error } of failures) {
      if (error instanceof ReeveError && error.isHostFailure) throw error;
      refused.push(`${item}: ${error.message}`);
    }
  }
  return { seen, refused };
}

/** Access levels in a repository, from least to most. */
const ranks: readonly Access[] = ['reader', 'writer', 'admin'];

/** A part of a rule that needs access: `action comment`, `fact approvals`. */
export type AccessWant = { readonly needed: Access; readonly what: string; readonly isFact: boolean };

/** Access of a rule that the account does not have in a repository. */
export type AccessGap = AccessWant & {
  readonly repository: string;
  readonly held: Access;
  readonly rule: LoadedRule;
};

/**
 * Returns the access that a rule needs. `possible` includes facts whose needed access depends on the repository.
 */
export function accessWants(
  rule: LoadedRule,
  { possible }: { readonly possible: boolean },
): readonly AccessWant[] {
  const ofActions = rule.steps.flatMap(({ action, arguments: given }) =>
    [action.needs.access, ...moreAccess(action, given.written)].map((needed) => ({
      needed,
      what: `action ${action.name}`,
      isFact: false,
    })),
  );
  const ofFacts = factsOfRule(rule).map(({ name, needs }) => ({
    needed: (possible ? needs.sometimes : undefined) ?? needs.access,
    what: `fact ${name}`,
    isFact: true,
  }));
  return [...ofActions, ...ofFacts];
}

/** Returns the access that the arguments of a step need beyond the access that its action needs. */
function moreAccess(action: Action, written: unknown): readonly Access[] {
  const given = new Set(Object.keys(typeof written === 'object' && written !== null ? written : {}));
  return Object.entries(action.moreAccess ?? {}).flatMap(([name, access]) =>
    given.has(name) ? [access] : [],
  );
}

/** Access levels in an organization, from least to most. */
const organizationRanks: readonly Access[] = ['member', 'owner'];

/** What an account is in an organization, and which access that includes. What the forge does not say is assumed. */
const standings = {
  owner: ['owner', 'member'],
  member: ['member'],
  none: [],
  'no owner': ['member'],
  unknown: ['member'],
} as const satisfies Record<string, readonly Access[]>;
type Standing = keyof typeof standings;

/** Access of a rule that the account does not have in an organization. */
export type OrganizationGap = AccessWant & {
  readonly organization: string;
  readonly held: Standing;
  readonly rule: LoadedRule;
};

/** Organizations in which rules need access, and what the account lacks there. */
export type OrganizationAccess = {
  readonly examined: readonly string[];
  /** Examined organizations of which the forge does not say whether the account is a member, which rules need. */
  readonly assumed: readonly string[];
  readonly gaps: readonly OrganizationGap[];
};

/**
 * Returns, for each organization and rule, the part that needs the most access beyond that of the account. The
 * organizations are the owners of these repositories that the scope of a rule includes. The forge is asked about at most
 * `maxExamined` of them, and only if a rule needs access to organizations.
 */
export async function findOrganizationGaps(
  rules: readonly LoadedRule[],
  repositories: readonly Repository[],
  { client, possible }: { readonly client: Client; readonly possible: boolean },
): Promise<OrganizationAccess> {
  const wanted = new Map<string, Map<LoadedRule, readonly AccessWant[]>>();
  for (const rule of rules) {
    const wants = accessWants(rule, { possible }).filter(
      // That fact names its organization itself: see `teamSpots`.
      ({ needed, what }) => organizationRanks.includes(needed) && what !== `fact ${team.name}`,
    );
    if (wants.length === 0) continue;
    for (const { owner } of repositories
      .map(toRepositoryRef)
      .filter((repository) => isConcerned(rule, repository)))
      wanted.set(owner, (wanted.get(owner) ?? new Map()).set(rule, wants));
  }
  if (wanted.size === 0) return { examined: [], assumed: [], gaps: [] };
  const { login: username } = await client.call(operations.getSelf, {});
  const memberOf = await ownOrganizations(client);
  const examined: string[] = [];
  const assumed: string[] = [];
  const gaps: OrganizationGap[] = [];
  for (const [organization, byRule] of [...wanted].slice(0, maxExamined)) {
    const held = await standingIn(client, { username, org: organization }, memberOf);
    if (held === undefined) continue;
    examined.push(organization);
    if (held === 'unknown' || held === 'no owner') assumed.push(organization);
    const included: readonly Access[] = standings[held];
    for (const [rule, wants] of byRule) {
      const [most] = wants
        .filter(({ needed }) => !included.includes(needed))
        .toSorted((a, b) => organizationRanks.indexOf(b.needed) - organizationRanks.indexOf(a.needed));
      if (most) gaps.push({ organization, held, rule, ...most });
    }
  }
  return { examined, assumed, gaps };
}

/** Returns whether a rule visits the organization of a repository, or runs in the repository. */
function isConcerned(rule: LoadedRule, repository: RepositoryRef): boolean {
  if (!visits(rule, 'organization')) return includes(rule, repository);
  return isInScope(rule, { kind: 'organization', organization: repository.owner }, createUnlimitedMeter());
}

/** Returns the names of the account's organizations in lower case; undefined if the forge refuses to list them. */
async function ownOrganizations(client: Client): Promise<ReadonlySet<string> | undefined> {
  const names = new Set<string>();
  try {
    for await (const { name } of client.items(operations.listOwnOrganizations, {}))
      names.add(name.toLowerCase());
    return names;
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}

/** Returns what an account is in an organization; undefined if there is no organization with this name, but a person. */
async function standingIn(
  client: Client,
  { username, org }: { readonly username: string; readonly org: string },
  memberOf: ReadonlySet<string> | undefined,
): Promise<Standing | undefined> {
  try {
    const held = await client.call(operations.getOrganizationPermissions, { params: { username, org } });
    if (held.is_owner) return 'owner';
    // Gitea answers for the name of a person as well, as if it were an organization without members.
    await client.call(operations.getOrganization, { params: { org } });
  } catch (error) {
    if (!isDenied(error)) throw error;
    return error.status === 404 ? undefined : 'unknown';
  }
  if (memberOf === undefined) return 'no owner';
  return memberOf.has(org.toLowerCase()) ? 'member' : 'none';
}

const standingWords: Readonly<Record<Standing, string>> = {
  owner: 'the account is an owner of',
  member: 'the account is a member and no owner of',
  none: 'the account is no member of',
  'no owner': 'the account is no owner of',
  unknown: 'the forge does not say (403) whether the account is an owner of',
};

/** Returns what the account is in an organization: `the account is no member of the organization acme`. */
export function describeOrganizationGap({
  organization,
  held,
}: Pick<OrganizationGap, 'organization' | 'held'>): string {
  return `${standingWords[held]} the organization ${organization}`;
}

async function ownershipSpots(
  rules: readonly LoadedRule[],
  { client, repositories }: Look,
): Promise<readonly BlindSpot[]> {
  const { gaps } = await findOrganizationGaps(rules, repositories, { client, possible: true });
  return [...Map.groupBy(gaps, ({ rule }) => rule)].flatMap(([rule, [first, ...others]]) => {
    if (first === undefined) return [];
    const { what, needed, isFact } = first;
    const text = `${what} needs ${needed} access, and ${describeOrganizationGap(first)}${andMore(others)}: the rule can fail there`;
    const advice = organizationsAdvice;
    return [{ rule, line: rule.line, code: 'access' as const, isBlind: isFact, text, advice }];
  });
}

/** Returns, for each repository and rule, the part that needs the most access beyond that of the account. */
export function findAccessGaps(
  rules: readonly LoadedRule[],
  repositories: readonly Repository[],
  options: { readonly possible: boolean },
): readonly AccessGap[] {
  const wants = new Map(rules.map((rule) => [rule, accessWants(rule, options)]));
  const meter = createUnlimitedMeter();
  return repositories.flatMap(({ full_name, permissions }) => {
    const held: Access = permissions?.admin ? 'admin' : permissions?.push ? 'writer' : 'reader';
    return rules.flatMap((rule) => {
      if (!rule.scopes.every((scope) => scope.matches(full_name, meter))) return [];
      const [most] = (wants.get(rule) ?? [])
        .filter(({ needed }) => ranks.indexOf(needed) > ranks.indexOf(held))
        .toSorted((a, b) => ranks.indexOf(b.needed) - ranks.indexOf(a.needed));
      return most === undefined ? [] : [{ repository: full_name, held, rule, ...most }];
    });
  });
}

function accessSpots(rules: readonly LoadedRule[], { repositories }: Look): readonly BlindSpot[] {
  const gaps = Map.groupBy(findAccessGaps(rules, repositories, { possible: true }), ({ rule }) => rule);
  return [...gaps].flatMap(([rule, ofRule]) => {
    const byPart = Map.groupBy(ofRule, ({ isFact }) => isFact);
    return [...byPart].flatMap(([isFact, [first, ...others]]) => {
      if (first === undefined) return [];
      const { what, needed, held, repository } = first;
      const text = `${what} needs ${needed} access, and the account is ${held} in ${repository}${andMore(others)}: the rule can fail there`;
      const advice = 'give the account that permission there, or restrict the rule with in';
      return [{ rule, line: rule.line, code: 'access' as const, isBlind: isFact, text, advice }];
    });
  });
}

function andMore(others: readonly unknown[]): string {
  return others.length === 0 ? '' : ` and ${others.length} more`;
}

/** A label that a step sets (`step`), or that a condition waits for. */
type NamedLabel = {
  readonly rule: LoadedRule;
  readonly line: number;
  readonly name: string;
  readonly isSet: boolean;
};

/**
 * Returns a spot for each label that a step sets without `create` and that is missing in a repository, and for each
 * label that a condition waits for and that is missing in all repositories of the rule.
 */
async function labelSpots(rules: readonly LoadedRule[], look: Look): Promise<readonly BlindSpot[]> {
  const made = new Set(rules.flatMap(({ steps }) => steps.flatMap(labelsMadeBy)));
  const named = rules.flatMap((rule): readonly NamedLabel[] => [
    ...rule.steps.flatMap((step) =>
      labelsSetBy(step).map((name) => ({ rule, line: step.line, name, isSet: true })),
    ),
    ...labelsAwaited(rule)
      .filter((name) => !made.has(name))
      .map((name) => ({ rule, line: rule.line, name, isSet: false })),
  ]);
  if (named.length === 0) return [];
  const missing = new Map<NamedLabel, string[]>();
  const found = new Set<NamedLabel>();
  const refused = new Map<LoadedRule, string[]>();
  let left = maxExamined;
  for (const repository of look.repositories.map(toRepositoryRef)) {
    const here = named.filter(({ rule }) => includes(rule, repository));
    if (here.length === 0) continue;
    if (left === 0) break;
    left -= 1;
    const place = `${repository.owner}/${repository.name}`;
    const known = await labelsIn(look.client, repository);
    if (known === undefined) {
      for (const rule of new Set(here.map((one) => one.rule)))
        refused.set(rule, [...(refused.get(rule) ?? []), place]);
      continue;
    }
    for (const one of here) {
      if (known.has(one.name)) found.add(one);
      else missing.set(one, [...(missing.get(one) ?? []), place]);
    }
  }
  return [
    ...[...refused].map(([rule, [first = '', ...others]]) => ({
      rule,
      line: rule.line,
      code: 'access' as const,
      isBlind: true,
      text: `the account may not read the labels of ${first}${andMore(others)}`,
      advice: 'give the account read access to the issues there, or restrict the rule with in',
    })),
    ...[...missing].flatMap(([one, places]): readonly BlindSpot[] => {
      const [first = '', ...others] = places;
      const { rule, line, name, isSet } = one;
      if (!isSet && (found.has(one) || !look.isWhole || left === 0)) return [];
      const where = `there is no label "${name}" in ${first}${andMore(others)}`;
      return [
        {
          rule,
          line,
          code: 'unknown-label',
          isBlind: false,
          text: isSet
            ? `${where}: the rule fails there; create it, or add create to the step`
            : `${where}: a condition that waits for it never holds`,
          advice: 'create the label, or correct its name in the rule',
          missing: { label: name, repositories: places },
        },
      ];
    }),
  ];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns the names of labels that must already exist; empty if the step creates missing labels. */
function labelsSetBy(step: LoadedStep): readonly string[] {
  return memberOf(step.arguments.written, 'create') === undefined ? labelsNamedBy(step) : [];
}

/** Returns the names of labels that a step creates. */
function labelsMadeBy(step: LoadedStep): readonly string[] {
  if (step.action.name === 'set-labels') return labelsSetBy(step).length > 0 ? [] : labelsNamedBy(step);
  if (step.action.name !== 'sync-labels') return [];
  const labels = memberOf(step.arguments.written, 'labels');
  const names = Array.isArray(labels) ? labels.map((label) => memberOf(label, 'name')) : [];
  return names.filter((name): name is string => typeof name === 'string');
}

/**
 * Returns the names of the labels of a repository, including those of its organization; undefined if the forge refuses
 * them.
 */
async function labelsIn(client: Client, repository: RepositoryRef): Promise<ReadonlySet<string> | undefined> {
  const clock = systemClock;
  const subject: Subject = { kind: 'repository', repository };
  const facts = createFacts({ client, subject, memory: createFactMemory(clock), clock });
  try {
    const labels = await facts.ask(requestOf(labelDefinitions));
    return new Set(labels.map(({ name }) => name));
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return undefined;
  }
}
