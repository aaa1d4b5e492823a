import type { ASTNode } from '@marcbachmann/cel-js';
import { isFromCommand } from '../../actions/command-names.ts';
import { problemOfContext, statusContextOf } from '../../actions/status-context.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import type { SubjectKind } from '../../contract/events/subject.ts';
import { conditionsIn } from '../arguments.ts';
import { childrenOf, literalOf, namespacedName, parseExpression } from '../expressions/parse.ts';
import { entriesOf } from '../expressions/subject-functions.ts';
import type { Problem } from '../problem.ts';
import { type Listening, type LoadedRule, type LoadedStep, subjectKindFor, visits } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** Actions that merge. */
const merging: ReadonlySet<string> = new Set(['merge', 'queue-merge']);
/** Actions that decide whether a merge is possible. */
const gating: ReadonlySet<string> = new Set([...merging, 'set-status']);
/** Functions that compare only part of a name. After a rename, the name may no longer match. */
const partly: ReadonlySet<string> = new Set(['glob', 'matches', 'startsWith', 'endsWith', 'contains']);
const newNames = { member: 'filename' };

/**
 * Returns a warning for each gating rule that compares only the new names of renamed files, because a rename would
 * bypass the gate.
 */
export function renamedOutOfSight(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => gating.has(action.name));
    if (steps.length === 0) return [];
    const trees = [...ruleTreesOf(rule), ...steps.flatMap(conditionTreesOf)];
    const comparesNewName = (tree: ASTNode): boolean =>
      comparisonsIn(tree, newNames).some(({ by }) => partly.has(by));
    if (!trees.some((tree) => comparesNewName(tree) && !readsMember(tree, 'previous_filename'))) return [];
    const message =
      'a renamed file is compared only by its new name: add || has(f.previous_filename) && f.previous_filename.glob(…)';
    return [file.problem('renamed-files', message, file.keyAt(['rules', rule.name]))];
  });
}

/**
 * Returns warnings about merge conditions that look safer than they are: `reviews` includes reviews that do not count,
 * and a rule that sets a status blocks the merge by another rule only if the branch requires that status.
 */
export function mergeGates(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => merging.has(action.name));
    if (steps.length === 0) return [];
    const conditions = [...ruleTreesOf(rule), ...steps.flatMap(conditionTreesOf)];
    const place = file.keyAt(['rules', rule.name]);
    const problems: Problem[] = [];
    const countsApprovals = conditions.some((one) => names(one, 'approvals'));
    if (
      conditions.some(
        (one) => mayTurn(one, true) || (!countsApprovals && names(one, 'reviews') && asksApproved(one)),
      )
    ) {
      const message =
        'a merge should count approvals and rejections, not reviews: reviews contains dismissed and stale ones, and those of users without write access';
      problems.push(file.problem('merge-reviews', message, place));
    }
    const gate = rules.find(
      (other) => other !== rule && other.steps.some(({ action }) => action.name === 'set-status'),
    );
    if (gate && !conditions.some((one) => names(one, 'required_checks') || names(one, 'statuses'))) {
      const message = `a failed rule blocks only itself: the status of rule ${gate.name} blocks this merge only if the protection of the branch requires it`;
      problems.push(file.problem('merge-gate', message, place));
    }
    return problems;
  });
}

/**
 * Returns the labels that must be set for a condition of a rule to hold: texts compared with the names of `labels`, in a
 * condition that requires one of them (`labelled("urgent")`, `labels.exists(l, l.name == "urgent")`), and not in its
 * negation.
 */
export function labelsAwaited(rule: LoadedRule): readonly string[] {
  const ofLabels = { member: 'name', lists: ['labels'] };
  const wanted = (tree: ASTNode): readonly string[] => {
    if (tree.op === '&&' || tree.op === '||') return childrenOf(tree).flatMap(wanted);
    if (tree.op === 'call' && tree.args[0] === 'labelled')
      return entriesOf(tree.args[1][0]).filter((name) => !name.startsWith('!'));
    const isPresence = tree.op === 'in' || (tree.op === 'rcall' && /^exists(_one)?$/.test(tree.args[0]));
    if (!isPresence) return [];
    return comparisonsIn(tree, ofLabels).flatMap(({ by, texts }) =>
      by === '==' || by === 'in' ? texts : [],
    );
  };
  return [...new Set([...ruleTreesOf(rule), ...rule.steps.flatMap(conditionTreesOf)].flatMap(wanted))];
}

/** Returns the fixed names of the labels that a `set-labels` step names. */
export function labelsNamedBy({ action, arguments: { written } }: LoadedStep): readonly string[] {
  if (action.name !== 'set-labels') return [];
  const names = ['add', 'remove', 'sync'].flatMap((member): readonly unknown[] => {
    const named = readMember(written, member);
    if (Array.isArray(named)) return named;
    return typeof named === 'object' && named !== null ? Object.keys(named) : [];
  });
  return names.filter((name): name is string => typeof name === 'string' && !name.includes('${{'));
}

/** Returns whether an expression reads a member with this name. */
function readsMember(node: ASTNode, name: string): boolean {
  const isRead =
    (node.op === '.' && node.args[1] === name) || (node.op === '[]' && literalOf(node.args[1]) === name);
  return isRead || childrenOf(node).some((child) => readsMember(child, name));
}

/**
 * Returns whether an expression reads a name. Loop variables need not be considered, because they cannot have the name
 * of a fact.
 */
function names(node: ASTNode, name: string): boolean {
  return (node.op === 'id' && node.args === name) || childrenOf(node).some((child) => names(child, name));
}

function asksApproved(node: ASTNode): boolean {
  return literalOf(node) === 'APPROVED' || childrenOf(node).some(asksApproved);
}

/**
 * Comparisons of a count with a number: true if one more review may make the comparison true, false if it may make it
 * false.
 */
const risen: Readonly<Record<string, boolean>> = { '>': true, '>=': true, '<': false, '<=': false };
const mirrored: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

/**
 * Returns whether one more review may change a condition to this result (`answer`), so that a review that does not
 * count would act like an approval. `!reviews.exists(…)` only gets stricter with each review.
 */
function mayTurn(node: ASTNode, answer: boolean): boolean {
  if (!names(node, 'reviews')) return false;
  switch (node.op) {
    case '!_':
      return mayTurn(node.args, !answer);
    case '&&':
    case '||':
      return mayTurn(node.args[0], answer) || mayTurn(node.args[1], answer);
    case '?:': {
      const [condition, held, missed] = node.args;
      return names(condition, 'reviews') || mayTurn(held, answer) || mayTurn(missed, answer);
    }
    case 'rcall': {
      const [name, list, [_variable, body]] = node.args;
      if (!isOfReviews(list) || (body !== undefined && names(body, 'reviews'))) return true;
      return name === 'exists' ? answer : name === 'all' ? !answer : true;
    }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const [left, right] = node.args;
      if (isCount(right)) return rises(mirrored[node.op] ?? node.op, left) !== !answer;
      return isCount(left) ? rises(node.op, right) !== !answer : true;
    }
    default:
      return true;
  }
}

/**
 * Returns the result that a comparison of the number of reviews may change to with more reviews; undefined if both
 * results are possible.
 */
function rises(operator: string, other: ASTNode): boolean | undefined {
  if (names(other, 'reviews')) return undefined;
  const isZero = literalOf(other) === 0n;
  return risen[operator] ?? (isZero ? operator === '!=' : undefined);
}

function isCount(node: ASTNode): boolean {
  if (node.op === 'call') return node.args[0] === 'size' && node.args[1].some(isOfReviews);
  return node.op === 'rcall' && node.args[0] === 'size' && isOfReviews(node.args[1]);
}

/**
 * Returns whether a list never gets shorter with more reviews: the list has one item for each review that satisfies a
 * condition.
 */
function isOfReviews(node: ASTNode): boolean {
  if (node.op === 'id') return node.args === 'reviews';
  if (node.op !== 'rcall' || !['filter', 'map'].includes(node.args[0])) return false;
  const [, list, [, ...bodies]] = node.args;
  return isOfReviews(list) && !bodies.some((body) => names(body, 'reviews'));
}

/** The value that a step sets for a target. Two steps that set different values for the same target conflict. */
type Wish = {
  readonly target: string;
  readonly value: string;
  /**
   * Descriptions for messages: `says` is used alone (`adds the label "bug"`), `saysToo` after another description of
   * the same target (`removes it`).
   */
  readonly says: string;
  readonly saysToo: string;
  /** Set if the step sets the value only under a condition. */
  readonly isConditional?: true;
};
type RuleWish = Wish & { readonly rule: LoadedRule; readonly step: LoadedStep };

/**
 * Returns a warning for each target that two rules of a file, or two steps of a rule, set to different values on the
 * same events. There is no warning if both have conditions, because the conditions may exclude each other.
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
    ...(Array.isArray(add) ? [] : Object.entries(asGiven(add))).flatMap(([label, condition]) =>
      condition === false
        ? []
        : [{ ...labelWish(label, true), ...(condition === true ? {} : { isConditional: true as const }) }],
    ),
    ...textsOf(remove).map((label) => labelWish(label, false)),
    ...Object.entries(asGiven(sync)).flatMap(([label, condition]) =>
      typeof condition === 'boolean'
        ? [labelWish(label, condition)]
        : [true, false].map((isAdded) => ({ ...labelWish(label, isAdded), isConditional: true as const })),
    ),
  ],
  'set-issue': ({ when = true, assignees, only: _only, ...fields }) => {
    const { add, remove, pick } = asGiven(assignees);
    const wishes = [
      ...Object.entries(fields)
        .filter(([, value]) => !isFromCommand(value))
        .map(([field, value]) => fieldWish(field, value)),
      ...(pick === undefined ? textsOf(add) : []).map((login) => assigneeWish(login, true)),
      ...textsOf(remove).map((login) => assigneeWish(login, false)),
    ];
    return when === true ? wishes : wishes.map((wish) => ({ ...wish, isConditional: true }));
  },
  // Not conditional: while `when` is false, the comment is deleted, which is also a value of the target.
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

/** Returns whether two steps set conflicting values for a target and may both run. */
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
  return `${where}${nameOf(one)} ${one.says} and ${nameOf(other)} ${other.saysToo}${together}: if both apply, neither change is made`;
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

/** Returns whether two rules run for a common event, or sweep over the same items. */
function meet(one: LoadedRule, other: LoadedRule): boolean {
  const areScheduled = one.schedules.length > 0 && other.schedules.length > 0;
  if (areScheduled && one.each?.some(({ kind }) => visits(other, kind))) return true;
  return one.on.some((first) => other.on.some((second) => overlap(first, second)));
}

function overlap(one: Listening, other: Listening): boolean {
  if (one.family !== other.family) return false;
  const { activities } = one;
  if (activities === undefined || other.activities === undefined) return true;
  return other.activities.some((activity) => activities.includes(activity));
}

/** A step that writes a status, with the context of that status. */
type StatusStep = { readonly rule: LoadedRule; readonly step: LoadedStep; readonly context: string };

function statusStepsOf(rule: LoadedRule): readonly StatusStep[] {
  return rule.steps.flatMap((step) => {
    if (step.action.name !== 'set-status') return [];
    const written = readMember(step.arguments.written, 'context');
    const context = statusContextOf(typeof written === 'string' ? written : undefined, {
      rule: rule.name,
      level: rule.level,
    });
    return [{ rule, step, context }];
  });
}

/** Returns the contexts of the statuses that a rule writes. An expression for the base branch is not resolved. */
export function statusContextsOf(rule: LoadedRule): readonly string[] {
  return statusStepsOf(rule).map(({ context }) => context);
}

/** A step that overwrites the status of another step, or that writes a reserved status. */
export type StatusClash = { readonly rule: LoadedRule; readonly step: LoadedStep; readonly message: string };

/**
 * Returns the status conflicts among rules in force together: two steps that write the same status for the same kind of
 * subject, and rules whose name produces a reserved status. Rules that only observe, or that concern different
 * repositories, do not conflict.
 */
export function statusClashes(rules: readonly LoadedRule[]): readonly StatusClash[] {
  const known = new Map<string, StatusStep[]>();
  const clashes: StatusClash[] = [];
  for (const { rule, step, context } of rules.flatMap(statusStepsOf)) {
    const reserved = problemOfContext(context, { level: rule.level });
    if (reserved !== undefined) {
      clashes.push({ rule, step, message: `the status of rule ${rule.name}: ${reserved}` });
      continue;
    }
    const key = `${rule.level} ${context}`;
    const before = known.get(key) ?? [];
    known.set(key, [...before, { rule, step, context }]);
    const other = before.find((one) => clash(one, { rule, step, context }));
    if (other === undefined) continue;
    const message =
      other.rule === rule
        ? `two steps of rule ${rule.name} write the status ${context}: write one step with when and otherwise, or give one of them another context`
        : `rule ${other.rule.name} (${other.rule.source}:${other.step.line}) writes the status ${context} as well: give one of them another context`;
    clashes.push({ rule, step, message });
  }
  return clashes;
}

/** Returns the conflicts between the rules of different files, all of the same level and in force together. */
export function clashesOfFiles(files: readonly (readonly LoadedRule[])[]): readonly StatusClash[] {
  // Conflicts within a single file were already reported when it was loaded.
  const ofOneFile = new Set(files.flatMap((rules) => statusClashes(rules).map(({ step }) => step)));
  return statusClashes(files.flat()).filter(({ step }) => !ofOneFile.has(step));
}

function clash(one: StatusStep, other: StatusStep): boolean {
  if (one.rule === other.rule) return true;
  if (one.rule.mode === 'observe' || other.rule.mode === 'observe') return false;
  const kinds = kindsOf(other.rule);
  return [...kindsOf(one.rule)].some((kind) => kinds.has(kind)) && !areApart(one.rule, other.rule);
}

/** Returns the kinds of subjects that a rule runs for. */
function kindsOf(rule: LoadedRule): ReadonlySet<SubjectKind> {
  const heard = rule.on.map(({ family }) => subjectKindFor(rule, family));
  const visited = rule.schedules.length > 0 ? (rule.each ?? []) : [];
  return new Set([...heard, ...visited.map(({ kind }) => kind)]);
}

/**
 * Returns whether no repository can match the `in` of both rules: both list repositories by name, and no name is in
 * both lists.
 */
export function areApart(one: LoadedRule, other: LoadedRule): boolean {
  return one.scopes.some((scope) =>
    other.scopes.some((theirs) => {
      const names = scope.written.map((name) => name.toLowerCase());
      const others = theirs.written.map((name) => name.toLowerCase());
      const isPlain = [...names, ...others].every((name) => /^[\w.-]+\/[\w.-]+$/.test(name));
      return isPlain && names.every((name) => !others.includes(name));
    }),
  );
}

/** Activities after which the status may be outdated, because the commit or the base has changed. */
const gateActivities = ['opened', 'reopened', 'synchronized', 'edited'] as const;

/**
 * Returns a warning for each rule that sets a status of pull requests but does not run when a pull request is opened,
 * reopened, pushed to or retargeted, so that the status becomes outdated.
 */
export function deafGates(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    if (statusStepsOf(rule).length === 0 || !kindsOf(rule).has('pull_request')) return [];
    const heard = rule.on.filter(({ family }) => family === 'pull_request');
    const missing = gateActivities.filter(
      (activity) =>
        !heard.some(({ activities }) => activities === undefined || activities.includes(activity)),
    );
    if (missing.length === 0) return [];
    const message = `the status of rule ${rule.name} is not updated when a pull request is ${missing.map((one) => meanings[one]).join(', ')}: add ${missing.map((one) => `pull_request.${one}`).join(', ')} to its on`;
    return [file.problem('gate-events', message, file.keyAt(['rules', rule.name]))];
  });
}

const meanings: Readonly<Record<(typeof gateActivities)[number], string>> = {
  opened: 'opened',
  reopened: 'reopened',
  synchronized: 'pushed to',
  edited: 'moved to another base',
};

/** The member whose comparisons are searched: for example `filename` of the items of `files`. */
type ComparedMember = {
  readonly member: string;
  /** Facts whose items have the member; if absent, any value may have it. */
  readonly lists?: readonly string[];
  /** Names of single objects that have the member. */
  readonly objects?: readonly string[];
  /** Members that are lists of values of this kind: `status_check_contexts`. */
  readonly valueLists?: readonly string[];
};

/** A comparison of the member with text literals. `by` is the operator or function that compares. */
export type Comparison = {
  readonly by: string;
  readonly texts: readonly string[];
  /** The fact, object or list that the member belongs to. */
  readonly of: string;
};

/**
 * What a name or an expression stands for: an item, the member of an item, or a list of either. `of` is the fact that
 * it comes from.
 */
type Meaning = { readonly kind: 'item' | 'value' | 'items' | 'values'; readonly of: string };

/** Functions over a list with a loop variable; their last argument is the body. */
const loops: ReadonlySet<string> = new Set(['exists', 'exists_one', 'all', 'filter', 'map']);
/** Functions whose result contains items of the input list. */
const selections: ReadonlySet<string> = new Set(['filter', 'distinct', 'sort', 'reverse']);

/**
 * Returns every comparison of a member with text literals. Loop variables are tracked; text inside literals is not
 * searched.
 */
export function comparisonsIn(tree: ASTNode, wanted: ComparedMember): readonly Comparison[] {
  const walk = (node: ASTNode, names: ReadonlyMap<string, Meaning>): readonly Comparison[] => {
    const meaningOf = (one: ASTNode): Meaning | undefined => meaning(one, names, wanted);
    const here = comparison(node, meaningOf);
    if (node.op !== 'rcall' || !loops.has(node.args[0]) || node.args[2].length < 2)
      return [...here, ...childrenOf(node).flatMap((child) => walk(child, names))];
    const [, list, [variable, ...bodies]] = node.args;
    const inner = variable?.op === 'id' ? withName(names, variable.args, itemOf(meaningOf(list))) : names;
    return [...here, ...walk(list, names), ...bodies.flatMap((body) => walk(body, inner))];
  };
  return walk(tree, new Map());
}

function meaning(
  node: ASTNode,
  names: ReadonlyMap<string, Meaning>,
  wanted: ComparedMember,
): Meaning | undefined {
  const { member, lists, objects = [], valueLists = [] } = wanted;
  switch (node.op) {
    case 'id':
      if (lists?.includes(node.args)) return { kind: 'items', of: node.args };
      return objects.includes(node.args) ? { kind: 'item', of: node.args } : names.get(node.args);
    case '.':
    case '[]': {
      const owner = meaning(node.args[0], names, wanted);
      const name = node.op === '.' ? node.args[1] : literalOf(node.args[1]);
      if (typeof name === 'string') {
        if (valueLists.includes(name)) return { kind: 'values', of: name };
        if (name !== member) return undefined;
        if (lists === undefined) return { kind: 'value', of: name };
        return owner?.kind === 'item' ? { ...owner, kind: 'value' } : undefined;
      }
      return itemOf(owner);
    }
    case 'rcall': {
      const [name, list, [variable, body]] = node.args;
      const before = meaning(list, names, wanted);
      if (selections.has(name)) return before;
      if (name !== 'map' || variable?.op !== 'id' || body === undefined) return undefined;
      const mapped = meaning(body, withName(names, variable.args, itemOf(before)), wanted);
      if (mapped?.kind === 'value') return { ...mapped, kind: 'values' };
      return mapped?.kind === 'item' ? { ...mapped, kind: 'items' } : undefined;
    }
    default:
      return undefined;
  }
}

function withName(
  names: ReadonlyMap<string, Meaning>,
  name: string,
  means: Meaning | undefined,
): ReadonlyMap<string, Meaning> {
  const inner = new Map(names);
  inner.delete(name);
  return means === undefined ? inner : inner.set(name, means);
}

function itemOf(list: Meaning | undefined): Meaning | undefined {
  if (list?.kind === 'items') return { ...list, kind: 'item' };
  return list?.kind === 'values' ? { ...list, kind: 'value' } : undefined;
}

function comparison(node: ASTNode, meaningOf: (node: ASTNode) => Meaning | undefined): readonly Comparison[] {
  // Both sides are examined: `s.context == "ci"`, `"ci" == s.context`, `"ci" in contexts`, `sets.contains(["ci"],
  // contexts)`.
  const sides: readonly ASTNode[] =
    node.op === 'rcall'
      ? namespacedName(node) === undefined
        ? [node.args[1], ...node.args[2]]
        : node.args[2]
      : node.op === '==' || node.op === '!=' || node.op === 'in'
        ? node.args
        : [];
  const by = node.op === 'rcall' ? (namespacedName(node) ?? node.args[0]) : node.op;
  const subject = sides.map(meaningOf).find((one) => one !== undefined);
  if (subject === undefined || subject.kind === 'item' || subject.kind === 'items' || loops.has(by))
    return [];
  const texts = sides.filter((side) => meaningOf(side) === undefined).flatMap(writtenIn);
  return texts.length === 0 ? [] : [{ by, texts, of: subject.of }];
}

function writtenIn(node: ASTNode): readonly string[] {
  if (node.op === 'list') return node.args.flatMap(writtenIn);
  const literal = literalOf(node);
  return typeof literal === 'string' ? [literal] : [];
}

/** Returns the syntax trees of a step's conditions: its `if`, and the conditions in its arguments. */
export function conditionTreesOf({
  condition,
  action,
  arguments: { written },
}: LoadedStep): readonly ASTNode[] {
  const given = conditionsIn(written, action.arguments).map((path) =>
    path.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      written,
    ),
  );
  return [condition?.source, ...given].flatMap(treesOf);
}

/** Returns the syntax tree of a rule's `if`, if it has one. */
export function ruleTreesOf({ condition }: LoadedRule): readonly ASTNode[] {
  return treesOf(condition?.source);
}

/** Returns the syntax tree of a condition that the loader has already validated. */
function treesOf(text: unknown): readonly ASTNode[] {
  const tree = typeof text === 'string' ? parseExpression(text) : undefined;
  return tree === undefined || 'code' in tree ? [] : [tree];
}
