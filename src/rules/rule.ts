import type { z } from 'zod';
import type { Action } from '../actions/action.ts';
import { concernsPulls } from '../contract/events/concerns.ts';
import type { Family } from '../contract/events/event-families.ts';
import type { SubjectKind } from '../contract/events/subject.ts';
import type { Fact } from '../facts/fact.ts';
import type { Matcher } from '../patterns/automaton.ts';
import type { StepArguments } from './arguments.ts';
import type { BudgetSource } from './expressions/budget.ts';
import type { Condition } from './expressions/conditions.ts';

/** Where a rule file comes from, from the most powerful to the least. */
export const levels = ['operator', 'organization', 'repository'] as const;
export type Level = (typeof levels)[number];

/** What a rule file may speak of: the tables of facts and actions, and the shapes of what a run is given. */
export type RuleRegistry = {
  readonly facts: readonly Fact[];
  readonly actions: readonly Action[];
  /** Shape of `event` for each family; the members of a family without one are not checked. */
  readonly payloads: Readonly<Partial<Record<Family, z.ZodType>>>;
  /**
   * Shapes of what a run is given beside `event`: `sender`, and the items of `each` that are no facts (`notification`,
   * `runner`, `organization`). `now` is always there.
   */
  readonly variables: Readonly<Record<string, z.ZodType>>;
};

/** `observe` plans and records, and never writes. */
export type RuleMode = 'observe' | 'enforce';

/** A filter over names: the patterns as written and what they decide. */
export type Pattern = { readonly written: readonly string[]; readonly matches: Matcher };

/** One family that a rule listens to. A member that is absent filters nothing. */
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

/** One clock that a rule listens to: five cron fields in a timezone. */
export type Schedule = { readonly cron: string; readonly timezone: string };

/** What a schedule walks over. `state` is there for issues and pull requests alone, `in` for notifications. */
export type Each = {
  readonly kind: SubjectKind;
  readonly state?: 'open' | 'closed' | 'all';
  /** Repositories that are asked one by one. */
  readonly in?: Pattern;
};

/** One step of a rule, checked: its arguments still hold conditions and templates. */
export type LoadedStep = {
  /** Its `name`, else its place and action (`1 set-labels`). */
  readonly name: string;
  readonly action: Action;
  readonly condition?: Condition;
  readonly arguments: StepArguments;
  readonly line: number;
};

/** Whose rule it is, where it is not the operator's: what it may write to ends there. */
export type RuleHome = { readonly repositoryId: number } | { readonly organization: string };

/** What the operator lets some rule files use beyond the default set, and where. */
export type ScopedGrant = {
  /** Names of actions and facts. */
  readonly names: readonly string[];
  /** Returns whether it covers a repository (`owner/name`) or an organization (`owner`). */
  readonly covers: (fullName: string) => boolean;
  /** Branches that it covers; absent: the default branch alone. */
  readonly branches?: Pattern;
  /** Whether it covers the branches of forks. */
  readonly forks: boolean;
};

/** Limits that the file or the rule sets; without one, those of the engine. */
export type RuleLimits = {
  /** Changes that a run may make. */
  readonly changes?: number;
  /** Items that a slot of the schedule may change. */
  readonly items?: number;
};

/** One rule of a file that has no problem. */
export type LoadedRule = {
  /** Identity: `source path#rule name`. */
  readonly id: string;
  readonly name: string;
  /** Path of the file as given to the loader. */
  readonly source: string;
  readonly level: Level;
  /** Set where the file was read from a forge; absent for the operator's. */
  readonly home?: RuleHome;
  /** The commit the file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  /** Digest of the file's text: rules of the same revision are the same. */
  readonly revision: string;
  readonly line: number;
  readonly description?: string;
  readonly mode: RuleMode;
  readonly limits: RuleLimits;
  /** `in` of file and rule: a repository or organization must lie in all of them. */
  readonly scopes: readonly Pattern[];
  readonly on: readonly Listening[];
  readonly schedules: readonly Schedule[];
  readonly each?: Each;
  /** Names of the actions and facts that it uses by grant alone; absent or empty: none. */
  readonly byGrant?: readonly string[];
  /** The grants of its file; absent for the operator's. */
  readonly grants?: readonly ScopedGrant[];
  readonly condition?: Condition;
  readonly steps: readonly LoadedStep[];
};

/** Returns whether a rule runs for the pull requests that events of a family concern, and not for what the events are about. */
export function runsForConcerned(
  { each }: { readonly each?: LoadedRule['each'] | undefined },
  family: Family,
): boolean {
  return each?.kind === 'pull_request' && concernsPulls(family);
}

/**
 * Units that a rule has for itself, whatever the other rules of its source cost. The operator may have a thousand rules
 * that concern one event, each with patterns and a hundred files to hold against them; how many there are is the
 * operator's choice. Other files have at most a hundred rules.
 */
export const unitsPerOperatorRule = 100_000;
export const unitsPerOtherRule = 20_000;

/** Returns whose budget a rule spends: the operator's, its organization's or its repository's. */
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

/** Rules that are in force together, found by what they listen to without looking at the others. */
export interface RuleSet {
  /** All rules, operator's first, then organization's, then repository's; within a level as given. */
  readonly rules: readonly LoadedRule[];
  /** Rules that listen to the family, in the same order. */
  listeningTo(family: Family): readonly LoadedRule[];
  find(id: string): LoadedRule | undefined;
  /** Returns where the rule stands in `rules`; after all of them where it is none of these. */
  orderOf(id: string): number;
}

/** Returns the rules indexed by family: an event costs about as much as the rules that listen to it. */
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
 * Returns a set with further rules after those of `base`, which is shared: a thousand rules of the operator are indexed once, and
 * not for every repository. All rules of `base` must be the operator's, and none of the others.
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
