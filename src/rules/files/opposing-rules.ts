import type { Problem } from '../problem.ts';
import type { Listening, LoadedRule, LoadedStep } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** A value that a step gives to something when its rule runs. Two steps that give it different ones undo each other. */
type Wish = {
  readonly target: string;
  readonly value: string;
  /** The wish in words, alone (`adds the label "bug"`) and after another one for the same target (`removes it`). */
  readonly says: string;
  readonly saysToo: string;
  /** Set where the step has the wish under a condition only. */
  readonly isConditional?: true;
};
type RuleWish = Wish & { readonly rule: LoadedRule; readonly step: LoadedStep };

/**
 * Returns a warning for each value that two rules of a file, or two steps of a rule, set differently on the same events.
 * Where both have conditions these may exclude each other: nothing is said of them.
 */
export function opposingRules(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  const byTarget = new Map<string, RuleWish[]>();
  for (const wish of rules.flatMap(wishesOfRule)) {
    byTarget.set(wish.target, [...(byTarget.get(wish.target) ?? []), wish]);
  }
  const problems = new Map<string, Problem>();
  for (const wishes of byTarget.values()) {
    for (const [place, later] of wishes.entries()) {
      const earlier = wishes.slice(0, place).find((one) => undo(one, later));
      if (earlier === undefined) continue;
      const message = describeOpposition(earlier, later);
      problems.set(message, file.problem('opposing-rules', message, file.keyAt(placeOf(later, earlier))));
    }
  }
  return [...problems.values()];
}

function wishesOfRule(rule: LoadedRule): readonly RuleWish[] {
  return rule.steps.flatMap((step) => {
    const { written } = step.arguments;
    const given = typeof written === 'object' && written !== null ? { ...written } : {};
    return (wishesOf[step.action.name]?.(given, rule) ?? []).map((wish) => ({ ...wish, rule, step }));
  });
}

type Given = Readonly<Record<string, unknown>>;

const wishesOf: Readonly<Record<string, (given: Given, rule: LoadedRule) => readonly Wish[]>> = {
  'set-labels': ({ add, remove, sync }) => [
    ...textsOf(add).map((label) => labelWish(label, true)),
    ...textsOf(remove).map((label) => labelWish(label, false)),
    ...Object.entries(asGiven(sync)).flatMap(([label, condition]) =>
      typeof condition === 'boolean'
        ? [labelWish(label, condition)]
        : [true, false].map((isAdded) => ({ ...labelWish(label, isAdded), isConditional: true as const })),
    ),
  ],
  'set-issue': ({ when = true, assignees, ...fields }) => {
    const { add, remove, pick } = asGiven(assignees);
    const wishes = [
      ...Object.entries(fields).map(([field, value]) => fieldWish(field, value)),
      ...(pick === undefined ? textsOf(add) : []).map((login) => assigneeWish(login, true)),
      ...textsOf(remove).map((login) => assigneeWish(login, false)),
    ];
    return when === true ? wishes : wishes.map((wish) => ({ ...wish, isConditional: true }));
  },
  // While its `when` does not hold, the comment is deleted: that is a wish as well.
  comment: ({ key = 'main', ...given }, { name }) => [
    {
      target: `comment ${name} ${key}`,
      value: JSON.stringify(given),
      says: `writes the comment with the key "${key}"`,
      saysToo: 'writes it differently',
    },
  ],
};

function labelWish(label: string, isAdded: boolean): Wish {
  const [says, saysToo] = isAdded ? ['adds', 'adds it'] : ['removes', 'removes it'];
  return { target: `label ${label}`, value: String(isAdded), says: `${says} the label "${label}"`, saysToo };
}

function assigneeWish(login: string, isAdded: boolean): Wish {
  const [says, saysToo] = isAdded ? ['assigns', 'assigns them'] : ['unassigns', 'unassigns them'];
  const target = `assignee ${login.toLowerCase()}`;
  return { target, value: String(isAdded), says: `${says} ${login}`, saysToo };
}

function fieldWish(field: string, value: unknown): Wish {
  const shown = JSON.stringify(value);
  return {
    target: `field ${field}`,
    value: shown,
    says: `sets ${field} to ${shown}`,
    saysToo: `sets it to ${shown}`,
  };
}

/** Returns whether two wishes for one target exclude each other, and may apply together. */
function undo(one: RuleWish, other: RuleWish): boolean {
  if (one.value === other.value || one.step === other.step) return false;
  if (one.rule === other.rule) return [one, other].some((wish) => !isConditional(wish));
  return (
    meet(one.rule, other.rule) && [one, other].some((wish) => !isConditional(wish) && isAlways(wish.rule))
  );
}

function isConditional({ step, isConditional: byArguments }: RuleWish): boolean {
  return byArguments === true || step.condition !== undefined;
}

function isAlways({ condition, on }: LoadedRule): boolean {
  const isFiltered = on.some(({ family: _family, activities: _activities, ...filters }) =>
    Object.values(filters).some((filter) => filter !== undefined),
  );
  return condition === undefined && !isFiltered;
}

function describeOpposition(earlier: RuleWish, later: RuleWish): string {
  const [one, other] = earlier.value === 'false' ? [later, earlier] : [earlier, later];
  const where = one.rule === other.rule ? `in rule ${one.rule.name}, ` : '';
  const nameOf = ({ rule, step }: RuleWish): string =>
    where === '' ? `rule ${rule.name}` : `step ${step.name}`;
  const together = where === '' ? ' on the same events' : '';
  return `${where}${nameOf(one)} ${one.says} and ${nameOf(other)} ${other.saysToo}${together}: where both apply, neither change is made`;
}

function placeOf({ rule, step }: RuleWish, earlier: RuleWish): readonly (string | number)[] {
  const place = ['rules', rule.name];
  return rule === earlier.rule ? [...place, 'steps', rule.steps.indexOf(step)] : place;
}

function asGiven(value: unknown): Given {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textsOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : [];
}

/** Returns whether two rules run for a common event, or walk over the same items. */
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
