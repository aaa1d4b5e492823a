import { activitiesOf, eventFamilies, type Family } from '../contract/events/event-families.ts';
import type { SubjectKind } from '../contract/events/subject.ts';
import { factKey } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import { type Way, ways } from '../facts/ways.ts';
import type { Read } from './expressions/part.ts';
import { type Listening, type LoadedRule, runsForConcerned } from './rule.ts';
import { readsOf } from './verdict.ts';

/** Kinds of items that rules with `on: auto` can be about. */
export const automaticKinds = ['pull_request', 'issue'] as const;
export type AutomaticKind = (typeof automaticKinds)[number];

/** A way in which something that a rule reads changes. `of`: what changes, as the rule writes it. */
export type ReadWay = { readonly of: string; readonly way: Way };

/** The parts of a rule from which its events follow. */
export type RuleParts = {
  readonly condition?: LoadedRule['condition'] | undefined;
  readonly each?: LoadedRule['each'] | undefined;
  readonly steps: LoadedRule['steps'];
};

/** Activities after which every rule about an item is evaluated. */
const beginnings: Readonly<Record<AutomaticKind, readonly string[]>> = {
  pull_request: ['opened', 'reopened', 'synchronized'],
  issue: ['opened', 'reopened'],
};
const familiesOfKind: Readonly<Record<AutomaticKind, Family>> = {
  pull_request: 'pull_request',
  issue: 'issues',
};

/**
 * Returns the entries of `on` that stand for `auto`: every event after which a value that the rule reads, or the plan of
 * one of its actions, may differ.
 */
export function automaticEvents(rule: RuleParts): readonly Listening[] {
  const found = new Map<Family, Set<string> | 'all'>();
  const hear = (family: Family, activities: readonly string[] | 'all'): void => {
    const known = found.get(family);
    if (known === 'all' || activities === 'all') found.set(family, 'all');
    else found.set(family, new Set([...(known ?? []), ...activities]));
  };
  for (const { kind, state } of rule.each ?? []) {
    if (kind !== 'pull_request' && kind !== 'issue') continue;
    hear(familiesOfKind[kind], [...beginnings[kind], ...(state === 'open' ? [] : ['closed'])]);
    for (const event of waysOfRule(rule).flatMap(({ way }) => eventsAbout(way, kind))) {
      const [family, activity] = event.split('.') as [Family, string | undefined];
      hear(family, activity === undefined ? 'all' : [activity]);
    }
  }
  return [...found].map(([family, activities]) => ({
    family,
    // In the order of the table, so that the same rule always has the same list.
    ...(activities !== 'all' && { activities: activitiesOf(family).filter((one) => activities.has(one)) }),
  }));
}

/** Returns the events of a way that start rules about items of this kind. */
export function eventsAbout({ events }: Way, kind: SubjectKind): readonly string[] {
  return events.filter((event) => {
    const family = event.split('.')[0] as Family;
    return eventFamilies[family].subject === kind || runsForConcerned({ each: [{ kind }] }, family);
  });
}

const checks: ReadonlySet<Way> = new Set<Way>([ways.ran, ways.reported, ways.conflicted]);

/**
 * Returns the ways in which what a rule with `on: auto` reads changes without an event, each once; none for other rules.
 * Checks and conflicts are left out for a rule that waits for them: Reeve looks at them again by itself.
 */
export function silentWaysOf(rule: LoadedRule): readonly ReadWay[] {
  if (rule.automatic === undefined) return [];
  const waits = rule.steps.some(({ action }) => action.awaitsChecks);
  const silent = waysOfRule(rule).filter(({ of, way }) => {
    if (waits && (findFact(of)?.isPolled || checks.has(way))) return false;
    if (way.silentOn !== undefined) return true;
    return !rule.each?.some(({ kind }) => eventsAbout(way, kind).length > 0);
  });
  return [...new Map(silent.map((one) => [one.way.what, one])).values()];
}

/** Returns the ways in which what a rule reads changes, and those after which its actions plan anew. */
export function waysOfRule(rule: RuleParts): readonly ReadWay[] {
  const ofActions = rule.steps.flatMap(({ action }) =>
    (action.ways?.after ?? []).map((way) => ({ of: action.name, way })),
  );
  return [...readsOf(rule).flatMap(waysOfRead), ...ofActions];
}

/** Returns the ways in which the value of a member chain changes. */
export function waysOfRead({ root, path: [member, inner], isAsked }: Read): readonly ReadWay[] {
  if (root.name === 'now') return [{ of: 'now', way: ways.time }];
  const { changes = [] } = findFact(root.name) ?? {};
  const of = factKey(root);
  if (isList(changes)) return changes.map((way) => ({ of, way }));
  if (member !== undefined) {
    const name = [`${member}.${inner}`, `${member}`].find((one) => Object.hasOwn(changes, one));
    return (changes[name ?? ''] ?? []).map((way) => ({ of: `${of}.${name}`, way }));
  }
  // has(pull_request) asks what kind of item this is.
  if (isAsked) return [];
  return [...new Set(Object.values(changes).flat())].map((way) => ({ of, way }));
}

function isList(
  changes: readonly Way[] | Readonly<Record<string, readonly Way[]>>,
): changes is readonly Way[] {
  return Array.isArray(changes);
}

/** Formats entries of `on` for people: `pull_request (edited, opened), push`. */
export function eventWords(on: readonly Listening[]): string {
  return on
    .map(({ family, activities }) =>
      activities === undefined ? family : `${family} (${activities.join(', ')})`,
    )
    .join(', ');
}
