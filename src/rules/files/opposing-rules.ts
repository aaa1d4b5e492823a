import type { Problem } from '../problem.ts';
import type { Listening, LoadedRule, LoadedStep } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** One label that a step always adds or always removes when its rule runs. */
type LabelWish = {
  readonly rule: LoadedRule;
  readonly step: LoadedStep;
  readonly label: string;
  readonly isAdded: boolean;
};

/**
 * Returns a warning for each label that one rule of a file adds and another removes on the same events. Where both have
 * conditions these may exclude each other: nothing is said of them.
 */
export function opposingRules(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  const wishes = rules.flatMap(wishesOf);
  return wishes.flatMap((wish) => {
    const other = wishes.find(
      ({ rule, label, isAdded, step }) =>
        label === wish.label &&
        isAdded &&
        !wish.isAdded &&
        rule !== wish.rule &&
        meet(rule, wish.rule) &&
        (isUnconditional({ rule, step }) || isUnconditional(wish)),
    );
    if (other === undefined) return [];
    const message = `rule ${other.rule.name} adds the label "${wish.label}" and rule ${wish.rule.name} removes it on the same events: where both apply, neither change is made`;
    return [file.problem('opposing-rules', message, file.keyAt(['rules', wish.rule.name]))];
  });
}

function wishesOf(rule: LoadedRule): readonly LabelWish[] {
  return rule.steps.flatMap((step): readonly LabelWish[] => {
    if (step.action.name !== 'set-labels') return [];
    const labelsOf = (key: string): readonly string[] => {
      const { written } = step.arguments;
      const list: unknown = typeof written === 'object' && written !== null ? Reflect.get(written, key) : [];
      return Array.isArray(list) ? list.filter((label): label is string => typeof label === 'string') : [];
    };
    return [
      ...labelsOf('add').map((label) => ({ rule, step, label, isAdded: true })),
      ...labelsOf('remove').map((label) => ({ rule, step, label, isAdded: false })),
    ];
  });
}

function isUnconditional({ rule, step }: Pick<LabelWish, 'rule' | 'step'>): boolean {
  const isFiltered = rule.on.some(({ family: _family, activities: _activities, ...filters }) =>
    Object.values(filters).some((filter) => filter !== undefined),
  );
  return rule.condition === undefined && step.condition === undefined && !isFiltered;
}

/** Says whether two rules run for a common event, or walk over the same items. */
function meet(one: LoadedRule, other: LoadedRule): boolean {
  if (one.schedules.length > 0 && other.schedules.length > 0 && one.each?.kind === other.each?.kind)
    return true;
  return one.on.some((first) => other.on.some((second) => overlap(first, second)));
}

function overlap(one: Listening, other: Listening): boolean {
  if (one.family !== other.family) return false;
  const { activities } = one;
  if (activities === undefined || other.activities === undefined) return true;
  return other.activities.some((activity) => activities.includes(activity));
}
