import type { Subject } from '../../contract/events/subject.ts';
import { type Facts, requestOf } from '../../facts/fact.ts';
import { repository as repositoryFact } from '../../facts/repository.ts';
import { repositoryParams } from '../../facts/where.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { messageOf } from '../../platform/errors.ts';
import type { LoadedRule, ScopedGrant } from '../../rules/rule.ts';

/** Fields of a change that are compared with grants. */
type GrantedChange = {
  readonly action: string;
  readonly branch?: string | undefined;
  readonly fork?: boolean | undefined;
  readonly alsoNeeds?: string | undefined;
};

/** A change and the rules that want it. */
type WantedChange = {
  readonly change: GrantedChange;
  readonly proposals: readonly { readonly rule: LoadedRule }[];
};

/** A change, with the place to which its request writes. */
type PlacedChange = {
  readonly change: GrantedChange;
  /** Path parameters of the request. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly defaultBranch: DefaultBranch | undefined;
};

/** The name of the default branch of the subject's repository, or why it is unknown. */
export type DefaultBranch = { readonly name: string } | { readonly unknown: string };

/** Returns whether the grants that a rule needs all cover the subject. Branches are checked later, for each change. */
export function isGrantedAt(rule: LoadedRule, { repository, organization }: Subject): boolean {
  const { byGrant = [] } = rule;
  if (rule.level === 'operator' || byGrant.length === 0) return true;
  const name = repository ? `${repository.owner}/${repository.name}` : (organization ?? '');
  return byGrant.every((used) => grantsFor(rule, used, name).length > 0);
}

/**
 * Returns the default branch if a change depends on a grant that covers only the default branch; otherwise undefined.
 */
export async function readDefaultBranch(
  planned: readonly WantedChange[],
  facts: Facts,
): Promise<DefaultBranch | undefined> {
  const isNeeded = planned.some(
    ({ change, proposals }) =>
      change.branch !== undefined &&
      proposals.some(
        ({ rule }) =>
          rule.level !== 'operator' &&
          rule.byGrant?.includes(change.action) &&
          rule.grants?.some((grant) => branchesOf(grant).includes(undefined)),
      ),
  );
  if (!isNeeded) return undefined;
  try {
    const { default_branch: name } = await facts.ask(requestOf(repositoryFact));
    return name ? { name } : { unknown: 'the repository has no default branch' };
  } catch (error) {
    return { unknown: messageOf(error) };
  }
}

/**
 * Returns why the grants of a rule's file do not cover a change; undefined if they cover it, or if it needs no grant.
 */
export function ungrantedReason(rule: LoadedRule, change: PlacedChange): string | undefined {
  const { action, alsoNeeds } = change.change;
  if (rule.level === 'operator') return undefined;
  const isByGrant = rule.byGrant?.includes(action) ?? false;
  const names = [...(isByGrant ? [action] : []), ...(alsoNeeds === undefined ? [] : [alsoNeeds])];
  for (const name of names) {
    const why = uncoveredReason(rule, name, change);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Returns whether the grants of a rule's file cover an action on a branch of the subject's repository. */
export async function coversAction(
  rule: LoadedRule,
  change: { readonly action: string; readonly branch: string },
  facts: Facts,
): Promise<boolean> {
  const defaultBranch = await readDefaultBranch([{ change, proposals: [{ rule }] }], facts);
  const params = repositoryParams(facts.subject);
  return ungrantedReason(rule, { change, params, defaultBranch }) === undefined;
}

function uncoveredReason(
  rule: LoadedRule,
  name: string,
  { change: { branch, fork }, params, defaultBranch }: PlacedChange,
): string | undefined {
  const place =
    params.repo === undefined ? String(params.org ?? params.owner ?? '') : `${params.owner}/${params.repo}`;
  const here = grantsFor(rule, name, place);
  if (here.length === 0) return `the operator does not grant ${name} to ${rule.source} for ${place}`;
  const ofForks = fork ? here.filter(({ forks }) => forks) : here;
  if (ofForks.length === 0) return `the grant of ${name} does not include branches of forks (forks: true)`;
  if (branch === undefined || ofForks.some((grant) => coversBranch(grant, branch, defaultBranch)))
    return undefined;
  const isAnyNamed = ofForks.some((grant) => !branchesOf(grant).includes(undefined));
  if (defaultBranch && 'unknown' in defaultBranch) {
    return `it is not known whether the grant of ${name} covers ${branch}: ${defaultBranch.unknown}`;
  }
  return isAnyNamed
    ? `the grant of ${name} does not cover the branch ${branch}`
    : `the grant of ${name} covers only the default branch, not ${branch}; the operator may grant it with branches`;
}

function coversBranch(grant: ScopedGrant, branch: string, defaultBranch: DefaultBranch | undefined): boolean {
  return branchesOf(grant).every((branches) => {
    if (branches !== undefined) return branches.matches(branch, createUnlimitedMeter());
    return defaultBranch !== undefined && 'name' in defaultBranch && defaultBranch.name === branch;
  });
}

/** Returns the patterns that all must match a branch that a grant covers; undefined: only the default branch. */
function branchesOf({ branches, within }: ScopedGrant): readonly ScopedGrant['branches'][] {
  return within === undefined ? [branches] : [branches, ...branchesOf(within)];
}

function grantsFor(rule: LoadedRule, name: string, place: string): readonly ScopedGrant[] {
  return (rule.grants ?? []).filter(({ names, covers }) => names.includes(name) && covers(place));
}
