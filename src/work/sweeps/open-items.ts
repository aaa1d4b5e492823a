import type { Listening, LoadedRule } from '../../rules/rule.ts';
import { runsForConcerned, subjectKindFor } from '../../rules/rule.ts';
import { needsEvent } from '../../rules/verdict.ts';
import type { TargetPage, Walk } from './targets/repositories.ts';
import { eachTarget } from './targets/targets.ts';

/** Kinds of items that can be open, in the order of `each`. */
const openKinds = ['issue', 'pull_request'] as const;
type OpenKind = (typeof openKinds)[number];

/** A rule for each kind of open items that it listens to: with the entries of `on` that concern this kind. */
export type OpenParts = ReadonlyMap<string, LoadedRule>;

/**
 * Returns a rule as it runs for the issues and pull requests that are open now, or why it cannot run for any. There is
 * no event: filters by branch and path are compared with the live state, like those of a rule that waits.
 */
export function onOpenItems(rule: LoadedRule): { readonly parts: OpenParts } | { readonly why: string } {
  const parts = new Map<string, LoadedRule>();
  for (const kind of openKinds) {
    const on = rule.on.filter((listening) => concernsOpen(listening, kind, rule));
    if (on.length > 0) parts.set(kind, { ...rule, on, schedules: [] });
  }
  if (parts.size === 0) {
    if (rule.on.length === 0) return { why: `it has only a schedule, which reeve sweep ${rule.name} runs` };
    const heard = rule.on.map(({ family, activities = [] }) =>
      activities.length === 0 ? family : activities.map((activity) => `${family}.${activity}`).join(', '),
    );
    return {
      why: `it listens to ${heard.join(', ')}, and none of these is about an open issue or pull request`,
    };
  }
  if ([...parts.values()].some(needsEvent))
    return { why: 'it reads event or sender, and there is no event: the items are only open' };
  return { parts };
}

/** Activities after which an item is not open. */
const endings: readonly string[] = ['closed', 'deleted'];

function concernsOpen({ family, activities }: Listening, kind: OpenKind, rule: LoadedRule): boolean {
  if (subjectKindFor(rule, family) !== kind) return false;
  if (runsForConcerned(rule, family)) return true;
  // A comment is not open or closed.
  if (family.endsWith('_comment')) return false;
  return activities === undefined || activities.some((activity) => !endings.includes(activity));
}

/** Yields the open items of these kinds, page by page, from the position at which an earlier attempt stopped. */
export function openTargets(parts: OpenParts, walk: Walk): AsyncGenerator<TargetPage> {
  const kinds = openKinds.filter((kind) => parts.has(kind));
  return eachTarget(
    kinds.map((kind) => ({ kind, state: 'open' })),
    walk,
  );
}
