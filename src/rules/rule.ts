import type { z } from 'zod';
import type { Action } from '../actions/action.ts';
import { concernsPulls } from '../contract/events/concerns.ts';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import type { SubjectKind } from '../contract/events/subject.ts';
import type { Fact } from '../facts/fact.ts';
import type { Matcher } from '../patterns/automaton.ts';
import type { StepArguments } from './arguments.ts';
import type { BudgetSource } from './expressions/budget.ts';
import type { Condition } from './expressions/conditions.ts';

/** Levels of rule files, from most to least powerful. */
export const levels = ['operator', 'organization', 'repository'] as const;
export type Level = (typeof levels)[number];

/** Definitions available to rule files: facts, actions, and the shapes of a run's variables. */
export type RuleRegistry = {
  readonly facts: readonly Fact[];
  readonly actions: readonly Action[];
  /** Shape of `event` for each family. If a family has no shape, the members of its `event` are not checked. */
  readonly payloads: Readonly<Partial<Record<Family, z.ZodType>>>;
  /**
   * Shapes of variables other than `event`: `sender`, and those items of `each` that are not facts (`runner`). `now` is
   * always available.
   */
  readonly variables: Readonly<Record<string, z.ZodType>>;
};

/** `observe` plans and records changes, but never writes them. */
export type RuleMode = 'observe' | 'enforce';

/** A name filter: the patterns as written, and the compiled matcher. */
export type Pattern = { readonly written: readonly string[]; readonly matches: Matcher };

/** One event family of a rule, with its filters. An absent filter matches everything. */
export type Listening = {
  readonly family: Family;
  readonly activities?: readonly string[];
  readonly branches?: Pattern;
  readonly branchesIgnore?: Pattern;
  readonly tags?: Pattern;
  readonly tagsIgnore?: Pattern;
  readonly paths?: Pattern;
  readonly pathsIgnore?: Pattern;
};

/** One schedule of a rule: five cron fields and a timezone. */
export type Schedule = { readonly cron: string; readonly timezone: string };

/** Items of one kind that a sweep visits. `state` exists only for issues, pull requests and milestones, `in` only for notifications. */
export type Each = {
  readonly kind: SubjectKind;
  readonly state?: 'open' | 'closed' | 'all';
  /** Repositories whose notifications are requested, one repository at a time. */
  readonly in?: Pattern;
};

/** A validated step; its arguments still contain conditions and templates. */
export type LoadedStep = {
  /** The step's `name` or, if it has none, its position and action (`1 set-labels`). */
  readonly name: string;
  readonly action: Action;
  readonly condition?: Condition;
  readonly arguments: StepArguments;
  readonly line: number;
};

/** Repository or organization that owns a rule below the operator level. It limits where the rule may write. */
export type RuleHome = { readonly repositoryId: number } | { readonly organization: string };

/** Permissions beyond the default set that the operator grants to some rule files, with their scope. */
export type ScopedGrant = {
  /** Names of actions and facts. */
  readonly names: readonly string[];
  /** Returns whether the grant covers a repository (`owner/name`) or an organization (`owner`). */
  readonly covers: (fullName: string) => boolean;
  /** Branches that the grant covers; absent: only the default branch. */
  readonly branches?: Pattern;
  /** Whether the grant covers branches of forks. */
  readonly forks: boolean;
  /** Another grant whose branches limit this one. */
  readonly within?: ScopedGrant;
};

/** Limits of a file or rule; if a limit is absent, the engine's limit applies. */
export type RuleLimits = {
  /** Maximum number of changes per run. */
  readonly changes?: number;
  /** Maximum number of changed items per scheduled sweep. */
  readonly items?: number;
};

/** Whose comments a rule obeys, from fewest to most people: see `judgeCommenter`. */
export const permissionLevels = ['write', 'author', 'read', 'everyone'] as const;

/** The permission that the author of a comment needs for a rule. */
export type RulePermission = {
  readonly level: (typeof permissionLevels)[number];
  /** Set if the rule does not state it, but reads arguments of commands: it applies to comments with these commands. */
  readonly isImplied?: true;
  /** Place in the file, for the evidence. */
  readonly line: number;
  readonly column: number;
};

/** A validated rule. */
export type LoadedRule = {
  /** Identity of the rule: `source path#rule name`. */
  readonly id: string;
  readonly name: string;
  /** Path of the file as given to the loader. */
  readonly source: string;
  readonly level: Level;
  /** Set for rules from a forge; absent for rules of the operator. */
  readonly home?: RuleHome;
  /** The commit that the file was read from; empty for files in the operator's folder. */
  readonly commit: string;
  /** Digest of the file's text: files with equal digests have equal rules. */
  readonly revision: string;
  readonly line: number;
  /** Set if the file is invalid now, and the rule is of its last valid version. */
  readonly isLastValid?: true;
  readonly description?: string;
  readonly mode: RuleMode;
  readonly limits: RuleLimits;
  /** The `in` of the file and the `in` of the rule: a repository or organization must match all of them. */
  readonly scopes: readonly Pattern[];
  readonly on: readonly Listening[];
  /** The entries of `on` that stand for `auto`. Set only for rules with `on: auto`. */
  readonly automatic?: readonly Listening[];
  readonly schedules: readonly Schedule[];
  /** The items that its schedules visit: those of one kind, or issues and pull requests, in this order. */
  readonly each?: readonly Each[];
  /** Names of the actions and facts that the rule may use only because of a grant; absent if there are none. */
  readonly byGrant?: readonly string[];
  /** The grants of the rule's file; absent for rules of the operator. */
  readonly grants?: readonly ScopedGrant[];
  readonly condition?: Condition;
  /** Absent: everyone who causes the event. */
  readonly permission?: RulePermission;
  readonly steps: readonly LoadedStep[];
};

type WithEach = { readonly each?: LoadedRule['each'] | undefined };

/** Returns whether the `each` of a rule names a kind. */
export function visits({ each = [] }: WithEach, wanted: SubjectKind): boolean {
  return each.some(({ kind }) => kind === wanted);
}

/**
 * Returns whether a rule has `each: [issue, pull_request]`. In its expressions, the name `issue` is absent for a pull
 * request, so that `has(issue)` and `has(pull_request)` tell the kinds apart.
 */
export function isAboutBoth(rule: WithEach): boolean {
  return visits(rule, 'issue') && visits(rule, 'pull_request');
}

/**
 * Returns whether events of a family start this rule for the pull requests that they affect, instead of for their own
 * subjects.
 */
export function runsForConcerned(rule: WithEach, family: Family): boolean {
  return visits(rule, 'pull_request') && concernsPulls(family);
}

/** Returns the kind of subject for which events of a family start a rule. */
export function subjectKindFor(rule: WithEach, family: Family): SubjectKind {
  return runsForConcerned(rule, family) ? 'pull_request' : eventFamilies[family].subject;
}

/**
 * Units reserved for each operator rule, independently of other rules, because any number of operator rules may apply
 * to one event, each with patterns for a hundred files. Files of other levels have at most a hundred rules.
 */
export const unitsPerOperatorRule = 100_000;
export const unitsPerOtherRule = 20_000;

/** Returns the source whose budget a rule uses: the operator, an organization or a repository. */
export function budgetSourceOf({ level, home, source }: LoadedRule): BudgetSource {
  if (level === 'operator') {
    return { key: 'operator', title: "the operator's rules", unitsPerRule: unitsPerOperatorRule };
  }
  if (home && 'organization' in home) {
    const { organization } = home;
    return {
      key: `organization ${organization}`,
      title: `the rules of ${organization}`,
      unitsPerRule: unitsPerOtherRule,
    };
  }
  return {
    key: `${level} ${home?.repositoryId ?? source}`,
    title: `the rules of ${source}`,
    unitsPerRule: unitsPerOtherRule,
  };
}

/** The rules in force together, indexed by event family. */
export interface RuleSet {
  /**
   * All rules: first the operator's, then the organization's, then the repository's; rules of one level keep the given
   * order.
   */
  readonly rules: readonly LoadedRule[];
  /** Returns the rules for a family, in the same order. */
  listeningTo(family: Family): readonly LoadedRule[];
  find(id: string): LoadedRule | undefined;
  /** Returns the index of the rule in `rules`, or the number of rules if it is not among them. */
  orderOf(id: string): number;
}

/** Returns a rule set indexed by family, so that the cost of an event depends only on the rules for its family. */
export function createRuleSet(rules: readonly LoadedRule[]): RuleSet {
  const order = { operator: 0, organization: 1, repository: 2 };
  const sorted = rules.toSorted((a, b) => order[a.level] - order[b.level]);
  const byFamily = new Map<Family, LoadedRule[]>();
  for (const rule of sorted) {
    for (const family of new Set(rule.on.map((listening) => listening.family))) {
      const listeners = byFamily.get(family);
      if (listeners) listeners.push(rule);
      else byFamily.set(family, [rule]);
    }
  }
  const places = new Map(sorted.map((rule, place) => [rule.id, place]));
  return {
    rules: sorted,
    listeningTo: (family) => byFamily.get(family) ?? [],
    find: (id) => sorted[places.get(id) ?? sorted.length],
    orderOf: (id) => places.get(id) ?? sorted.length,
  };
}

/**
 * Returns a rule set with the rules of `base`, followed by `rules`. The index of `base` is shared, so that a thousand
 * operator rules are indexed only once instead of once per repository. `base` must contain only operator rules, and
 * `rules` must not contain any.
 */
export function extendRuleSet(base: RuleSet, rules: readonly LoadedRule[]): RuleSet {
  const own = createRuleSet(rules);
  const first = base.rules.length;
  return {
    get rules() {
      return [...base.rules, ...own.rules];
    },
    listeningTo(family) {
      const [before, after] = [base.listeningTo(family), own.listeningTo(family)];
      return after.length === 0 ? before : [...before, ...after];
    },
    find: (id) => own.find(id) ?? base.find(id),
    orderOf(id) {
      if (own.find(id) === undefined && base.find(id) !== undefined) return base.orderOf(id);
      return first + own.orderOf(id);
    },
  };
}
