import type { ASTNode } from '@marcbachmann/cel-js';
import { validate } from 'node-cron';
import type { z } from 'zod';
import type { Action } from '../../actions/action.ts';
import { eventFamilies, type Family } from '../../contract/events/event-families.ts';
import type { SubjectKind } from '../../contract/events/subject.ts';
import { isAboutComment, readsArguments } from '../../facts/command.ts';
import { ways } from '../../facts/ways.ts';
import type { Matcher } from '../../patterns/automaton.ts';
import { compileGlob, compileScope, GlobError } from '../../patterns/glob.ts';
import {
  type ArgumentPath,
  type ArgumentProblem,
  bracesProblem,
  compileArguments,
  expressionsIn,
} from '../arguments.ts';
import { automaticEvents, automaticKinds, type RuleParts, waysOfRule } from '../automatic-events.ts';
import { type Condition, compileCondition, type ExpressionPlace } from '../expressions/conditions.ts';
import { isTimezone } from '../expressions/function-row.ts';
import { childrenOf, parseExpression } from '../expressions/parse.ts';
import type { ExpressionContext } from '../expressions/resolve.ts';
import { subjectFunctionOf } from '../expressions/subject-functions.ts';
import { hasTemplate } from '../expressions/template.ts';
import type { ExpressionEnvironment } from '../expressions/types.ts';
import { actionsElsewhere, foreignSchedules } from '../foreign-words.ts';
import { type ExpressionProblem, nearest } from '../problem.ts';
import {
  type Each,
  isAboutBoth,
  type Listening,
  type LoadedRule,
  type LoadedStep,
  levels,
  type Pattern,
  permissionLevels,
  type RuleLimits,
  type RuleMode,
  type RulePermission,
  runsForConcerned,
  type Schedule,
  type ScopedGrant,
  subjectKindFor,
  visits,
} from '../rule.ts';
import type { FileContext, Occasion } from './context.ts';
import { EachForm, Expression, On, RuleModeWord, StepForm } from './grammar.ts';
import { problemsOf } from './issues.ts';
import type { YamlPath } from './yaml-source.ts';

/** Settings at the top of a file, which apply to all its rules. */
export type FileDefaults = {
  readonly mode: RuleMode;
  readonly limits: RuleLimits;
  readonly scope?: Pattern;
};

/** Returns the settings at the top of a file, and reports invalid ones. */
export function loadDefaults(value: unknown, context: FileContext): FileDefaults {
  const file = asRecord(value);
  const mode = RuleModeWord.safeParse(file.mode);
  const scope = loadScope(file.in, ['in'], context);
  return {
    mode: mode.success ? mode.data : 'enforce',
    limits: limitsIn(file.limits),
    ...(scope && { scope }),
  };
}

/**
 * Compiles one rule, or reports all of its problems that the grammar does not cover. Each well-formed part is checked,
 * even if other parts are invalid.
 */
export function loadRule(
  name: string,
  value: unknown,
  defaults: FileDefaults,
  context: FileContext,
): LoadedRule | undefined {
  const at = ['rules', name];
  const before = context.problems.length;
  const rule = asRecord(value);
  const scope = loadScope(rule.in, [...at, 'in'], context);
  const scopes = [defaults.scope, scope].filter((one) => one !== undefined);
  const mode = loadMode(rule.mode, defaults.mode, [...at, 'mode'], context);
  const limits = loadLimits(rule.limits, defaults.limits, [...at, 'limits'], context);
  const on = On.safeParse(rule.on);
  const heard: ReadOn = on.success ? readOn(on.data, [...at, 'on'], context) : readFamilies(rule.on);
  const each = loadEach(rule, heard, at, context);
  const occasions = occasionsOf(heard, each);
  const environment = occasions.length > 0 ? context.environment(occasions) : undefined;
  const expressions = environment && context.expressions(environment);
  const written = Expression.safeParse(rule.if);
  const condition = written.success
    ? loadCondition(written.data, [...at, 'if'], context, expressions)
    : undefined;
  if (heard.schedules.length === 0 && limitsIn(rule.limits).items !== undefined) {
    const message = 'items limits what a schedule changes, and this rule has no schedule: use changes';
    context.reportKey([...at, 'limits', 'items'], 'each', message);
  }
  const steps: LoadedStep[] = [];
  for (const [place, form] of asList(rule.steps).entries()) {
    const parsed = StepForm.safeParse(form);
    if (!parsed.success) continue;
    const options = { context, scopes, expressions, occasions };
    const step = loadStep(parsed.data, place + 1, [...at, 'steps', place], options);
    if (step) steps.push(step);
  }
  const permission = loadPermission(rule.permission, { condition, steps, heard }, at, context);
  if (!on.success || environment === undefined || context.problems.length > before) return undefined;
  const parts = { condition, each, steps };
  const automatic = heard.isAutomatic && automaticEvents(parts);
  if (automatic && isAboutClosed(parts)) {
    const message =
      'on: auto leaves out closed items, which this rule is about: write each: { pull_request: { state: all } }';
    context.reportKey([...at, 'on'], 'each', message);
    return undefined;
  }
  return {
    id: `${context.path}#${name}`,
    name,
    source: context.path,
    level: context.level,
    commit: context.commit,
    revision: context.revision,
    line: context.file.lineOf(context.file.keyAt(at).start).line,
    mode,
    limits,
    scopes,
    on: automatic ? [...heard.on, ...automatic] : heard.on,
    ...(automatic && { automatic }),
    schedules: heard.schedules,
    steps,
    ...(typeof rule.description === 'string' && { description: rule.description }),
    ...(each && { each }),
    ...(condition && { condition }),
    ...(permission && { permission }),
    ...grantsOf({ condition, steps }, context),
  };
}

/**
 * Returns the names that the expressions of a rule may use, also if parts of the rule are wrong or missing; undefined if
 * nothing says what the rule is about. Its problems are added to the context.
 */
export function environmentOf(
  name: string,
  value: unknown,
  context: FileContext,
): ExpressionEnvironment | undefined {
  const at = ['rules', name];
  const rule = asRecord(value);
  const on = On.safeParse(rule.on);
  const heard = on.success ? readOn(on.data, [...at, 'on'], context) : readFamilies(rule.on);
  const occasions = occasionsOf(heard, loadEach(rule, heard, at, context));
  return occasions.length > 0 ? context.environment(occasions) : undefined;
}

/**
 * Returns the permission that the author of a comment needs, or reports that the rule has no event of comments. A rule
 * that reads arguments of a command needs write access unless it states another permission.
 */
function loadPermission(
  written: unknown,
  {
    condition,
    steps,
    heard,
  }: {
    readonly condition: Condition | undefined;
    readonly steps: readonly LoadedStep[];
    readonly heard: ReadOn;
  },
  at: YamlPath,
  context: FileContext,
): RulePermission | undefined {
  const level = permissionLevels.find((one) => one === written);
  if (level !== undefined) {
    const path = [...at, 'permission'];
    if (!heard.on.some(({ family }) => isAboutComment(family))) {
      const message =
        'permission is that of the author of a comment, and this rule listens to none: add issue_comment or pull_request_comment to on, or compare sender_permission in if';
      context.reportKey(path, 'command', message);
    }
    return { level, ...context.file.lineOf(context.file.keyAt(path).start) };
  }
  const reads = [
    ...(condition?.reads ?? []),
    ...steps.flatMap((step) => [...(step.condition?.reads ?? []), ...step.arguments.reads]),
  ];
  if (!reads.some(({ root, path }) => readsArguments(root, path))) return undefined;
  return { level: 'write', isImplied: true, ...context.file.lineOf(context.file.keyAt(at).start) };
}

/** Returns the names of actions and facts that a rule may use only because of a grant, and the grants of its file. */
function grantsOf(
  { condition, steps }: { readonly condition: Condition | undefined; readonly steps: readonly LoadedStep[] },
  { level, registry, scopedGrants }: FileContext,
): { readonly byGrant?: readonly string[]; readonly grants?: readonly ScopedGrant[] } {
  if (level === 'operator') return {};
  const open = new Set(registry.facts.filter(({ shows }) => shows === 'repository').map(({ name }) => name));
  const names = [...(condition?.facts ?? []).map(({ name }) => name), ...steps.flatMap(namesByGrant)];
  return { byGrant: [...new Set(names)].filter((name) => !open.has(name)), grants: scopedGrants };
}

/** Compiles an `in`, or reports its problem; returns undefined if the `in` is absent or invalid. */
export function loadScope(written: unknown, at: YamlPath, context: FileContext): Pattern | undefined {
  if (written === undefined) return undefined;
  if (context.level === 'repository') {
    context.reportKey(
      at,
      'level',
      'files of the repository must not have `in`: they apply only to this repository',
    );
    return undefined;
  }
  const list = typeof written === 'string' ? [written] : asList(written);
  const texts = list.filter((entry) => typeof entry === 'string');
  if (texts.length === 0 || texts.length !== list.length) return undefined;
  return readPattern(texts, at, context, compileScope);
}

/** Returns the mode of a part of a file, and reports a mode that is less strict than the file's mode. */
export function loadMode(written: unknown, ofFile: RuleMode, at: YamlPath, context: FileContext): RuleMode {
  if (written === 'enforce' && ofFile === 'observe') {
    context.reportValue(at, 'stricter', 'the mode of the file is observe: its rules cannot enforce');
  }
  return written === 'observe' ? 'observe' : ofFile;
}

const limitNames = ['changes', 'items'] as const;

function limitsIn(written: unknown): RuleLimits {
  const limits = asRecord(written);
  return Object.fromEntries(
    limitNames.flatMap((name) => (typeof limits[name] === 'number' ? [[name, limits[name]]] : [])),
  );
}

function loadLimits(written: unknown, ofFile: RuleLimits, at: YamlPath, context: FileContext): RuleLimits {
  const own = limitsIn(written);
  for (const name of limitNames) {
    const [ofRule, most] = [own[name], ofFile[name]];
    if (ofRule === undefined || most === undefined || ofRule <= most) continue;
    const message = `the file allows ${most} ${name}: its rules cannot allow ${ofRule}`;
    context.reportValue([...at, name], 'stricter', message);
  }
  return strictestLimits(own, ofFile);
}

/** Returns the stricter of both values for each limit. */
export function strictestLimits(one: RuleLimits, other: RuleLimits): RuleLimits {
  return Object.fromEntries(
    limitNames.flatMap((name) => {
      const both = [one[name], other[name]].filter((limit) => limit !== undefined);
      return both.length === 0 ? [] : [[name, Math.min(...both)]];
    }),
  );
}

const eachBelowOperator = ['pull_request', 'issue', 'branch', 'milestone'];

function loadEach(
  rule: Readonly<Record<string, unknown>>,
  heard: ReadOn,
  at: YamlPath,
  context: FileContext,
): readonly Each[] | undefined {
  const { each: written } = rule;
  const parsed = EachForm.safeParse(written);
  if (!parsed.success) {
    if (written === undefined && heard.isAutomatic) return inferEach(rule, at, context);
    if (written === undefined && heard.schedules.length > 0) {
      context.reportKey([...at, 'on'], 'each', 'a schedule needs `each`: the items that it processes');
    }
    return undefined;
  }
  const each = eachOf(parsed.data, at, context);
  const kinds = each.map(({ kind }) => kind);
  const isAlone = kinds.length === 1 && !Array.isArray(parsed.data);
  if (!isAlone && !(kinds.length === 2 && isAboutBoth({ each }))) {
    const message =
      'a rule is about one kind, or about issue and pull_request together: write a rule for each kind';
    const suggestion = kinds.length === 1 ? kinds[0] : undefined;
    context.reportValue([...at, 'each'], 'each', message, suggestion);
    return undefined;
  }
  if (context.level !== 'operator' && !kinds.every((kind) => eachBelowOperator.includes(kind))) {
    const message = `files of the ${context.level} iterate only over ${eachBelowOperator.join(', ')}`;
    context.reportValue([...at, 'each'], 'level', message);
  }
  if (heard.isAutomatic && !each.every(({ kind }) => isAutomaticKind(kind))) {
    const message = `on: auto is for rules about each ${automaticKinds.join(' or ')}: name the events`;
    context.reportKey([...at, 'on'], 'each', message);
  }
  for (const { family, ...filter } of heard.on) {
    if (runsForConcerned({ each }, family) && (filter.paths || filter.pathsIgnore)) {
      const message = `events of ${family} have no paths to filter by with each: pull_request; use if: touches(…)`;
      context.reportValue([...at, 'each'], 'filter', message);
    }
    const subject = subjectKindFor({ each }, family);
    if (visits({ each }, subject)) continue;
    const message = `events of ${family} are about a ${subject}, not a ${kinds.join(' or ')}: write two rules`;
    context.reportValue([...at, 'each'], 'each', message);
    break;
  }
  return each;
}

/**
 * Returns the open items that a rule with `on: auto` and without `each` is about: those that its actions allow or, if they
 * allow both kinds, those that have the facts which its expressions read.
 */
function inferEach(
  rule: Readonly<Record<string, unknown>>,
  at: YamlPath,
  context: FileContext,
): readonly Each[] | undefined {
  const used = asList(rule.steps).flatMap(
    (step) => context.registry.actions.find(({ name }) => name === asRecord(step).uses) ?? [],
  );
  const kinds = automaticKinds.filter((kind) => used.every(({ of }) => of.includes(kind)));
  const [kind] = kinds;
  if (kind !== undefined && kinds.length === 1) return [{ kind, state: 'open' }];
  const read = kinds.filter((one) => readsOnlyOf(one, rule, context));
  if (read.length === 1) return read.map((one) => ({ kind: one, state: 'open' }));
  // Steps that fit no kind have a problem of their own.
  if (kinds.length > 1) {
    const message =
      'on: auto needs each: pull_request, each: issue, or each: [issue, pull_request], because its actions work on both';
    context.reportKey([...at, 'on'], 'each', message);
  }
  return undefined;
}

/** Returns whether the expressions of a rule read a fact, or use a function about a fact, that only items of this kind have. */
function readsOnlyOf(
  kind: SubjectKind,
  { if: condition, steps }: Readonly<Record<string, unknown>>,
  { registry, named }: FileContext,
): boolean {
  const other = kind === 'issue' ? 'pull_request' : 'issue';
  const isOnly = (name: string): boolean =>
    name === kind ||
    registry.facts.some(
      (fact) => fact.name === name && fact.of.includes(kind) && !fact.of.some((one) => one === other),
    );
  const seen = new Set<string>();
  const reads = (node: ASTNode): boolean => {
    const about = subjectFunctionOf(node);
    if (about && isOnly(about.fact)) return true;
    const name = node.op === 'id' ? node.args : node.op === 'call' ? node.args[0] : undefined;
    const condition = name === undefined || seen.has(name) ? undefined : named.get(name);
    if (name !== undefined) seen.add(name);
    if (name !== undefined && (isOnly(name) || (condition && reads(condition.node)))) return true;
    return childrenOf(node).some(reads);
  };
  const ofSteps = asList(steps).flatMap((step) => {
    const { uses, if: ofStep, with: given } = asRecord(step);
    const action = registry.actions.find(({ name }) => name === uses);
    return [ofStep, ...(action ? expressionsIn(given, action.arguments) : [])];
  });
  return [condition, ...ofSteps].some((text) => {
    const node = typeof text === 'string' ? parseExpression(text) : undefined;
    return node !== undefined && !('message' in node) && reads(node);
  });
}

/** Returns whether a rule about open items reads, or its actions need, what only closed ones have. */
function isAboutClosed(parts: RuleParts): boolean {
  if (!parts.each?.some(({ kind, state }) => kind === 'pull_request' && state === 'open')) return false;
  return waysOfRule(parts).some(({ way }) => way === ways.merged);
}

function isAutomaticKind(kind: SubjectKind): boolean {
  return automaticKinds.some((one) => one === kind);
}

/** Kinds of items that are open or closed. */
const kindsWithState: readonly SubjectKind[] = ['pull_request', 'issue', 'milestone'];

/** Returns the kinds of an `each`, issues before pull requests, and reports an invalid `in`. */
function eachOf(written: z.output<typeof EachForm>, at: YamlPath, context: FileContext): readonly Each[] {
  const named = typeof written === 'string' ? [written] : written;
  // The cast is safe: the grammar allows only kinds as keys, with these filters.
  const filters = (
    Array.isArray(named) ? named.map((kind) => [kind, {}]) : Object.entries(named)
  ) as readonly (readonly [SubjectKind, { readonly state?: Each['state']; readonly in?: unknown }])[];
  const inOrder = filters.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.map(([kind, { state = 'open', in: places }]): Each => {
    const scope = loadScope(places, [...at, 'each', kind, 'in'], context);
    return { kind, ...(kindsWithState.includes(kind) && { state }), ...(scope && { in: scope }) };
  });
}

function occasionsOf(heard: ReadOn, each: readonly Each[] = []): readonly Occasion[] {
  const families = [...new Set(heard.on.map(({ family }) => family))];
  const events = families.map((family) => ({ family, subject: subjectKindFor({ each }, family) }));
  const automatic = heard.isAutomatic
    ? each.map(({ kind }) => ({ subject: kind, isAutomatic: true as const }))
    : [];
  const swept = heard.schedules.length > 0 ? each.map(({ kind }) => ({ subject: kind })) : [];
  const occasions: readonly Occasion[] = [...events, ...automatic, ...swept];
  return isAboutBoth({ each }) ? occasions.map((one) => ({ ...one, ofBoth: true })) : occasions;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

type StepOptions = {
  readonly context: FileContext;
  /** The `in` of the file and of the rule. */
  readonly scopes: readonly Pattern[];
  /** Undefined if `on` is invalid. */
  readonly expressions: ExpressionContext | undefined;
  readonly occasions: readonly Occasion[];
};

/**
 * Compiles a step, or reports all of its problems that the grammar does not cover. If `on` is invalid, expressions are
 * skipped, because the available names are unknown.
 */
function loadStep(
  form: StepForm,
  number: number,
  at: YamlPath,
  options: StepOptions,
): LoadedStep | undefined {
  const { context, expressions, occasions } = options;
  const before = context.problems.length;
  const condition = loadCondition(form.if, [...at, 'if'], context, expressions);
  const action = findActionAt(form.uses, [...at, 'uses'], context);
  if (action === undefined) return undefined;
  checkPowers(action, form, at, context);
  if (action.ways === undefined && occasions.some(({ isAutomatic }) => isAutomatic)) {
    const message = `${action.name} does not keep a state of the item, so that no events follow from it: name the events instead of on: auto`;
    context.reportValue([...at, 'uses'], 'subject', message);
  }
  checkSubjects(action, at, context, occasions);
  const given = loadArguments(action, form.with ?? {}, [...at, 'with'], options);
  if (given === undefined || context.problems.length > before) return undefined;
  return {
    name: form.name ?? `${number} ${action.name}`,
    action,
    arguments: given,
    line: context.file.lineOf(context.file.valueAt(at).start).line,
    ...(condition && { condition }),
  };
}

/**
 * Compiles the condition at a path, or reports its problems; returns undefined if the condition is absent or invalid.
 */
function loadCondition(
  written: string | boolean | undefined,
  at: YamlPath,
  context: FileContext,
  expressions: ExpressionContext | undefined,
): Condition | undefined {
  if (written === undefined || expressions === undefined) return undefined;
  const text = String(written);
  const braces = bracesProblem(text);
  const onWarning = (warning: ExpressionProblem): void => context.warnInside(at, warning);
  const compiled = braces
    ? { problems: [braces] }
    : compileCondition(text, { ...expressions, onWarning }, placeIn(context, at));
  if ('condition' in compiled) return compiled.condition;
  for (const problem of compiled.problems) context.reportInside(at, problem);
  return undefined;
}

function placeIn(context: FileContext, at: YamlPath): ExpressionPlace {
  return { file: context.path, at: (offset) => context.file.lineOf(context.file.inside(at, offset)) };
}

function findActionAt(name: string, at: YamlPath, context: FileContext): Action | undefined {
  const action = context.registry.actions.find((one) => one.name === name);
  if (action) return action;
  const known = context.registry.actions.map((one) => one.name);
  const isTemplate = hasTemplate(name);
  const suggestion = isTemplate ? undefined : suggestAction(name, known);
  const list = suggestion === undefined ? `; there are ${known.toSorted().join(', ')}` : '';
  const message = isTemplate
    ? 'uses must not contain an expression: name the action'
    : `there is no action "${name}"${list}`;
  context.reportValue(at, isTemplate ? 'template' : 'unknown-action', message, suggestion);
  return undefined;
}

function checkPowers(action: Action, form: StepForm, at: YamlPath, context: FileContext): void {
  const { level } = context;
  if (level === 'operator') return;
  if (action.onlyFor !== undefined && levels.indexOf(level) > levels.indexOf(action.onlyFor)) {
    const message = `files of the ${level} may not use ${action.name}, whatever the grants: only those of the ${action.onlyFor} may`;
    context.reportValue([...at, 'uses'], 'level', message);
    return;
  }
  for (const [name, grant] of Object.entries(action.ownGrants ?? {})) {
    if (!has(form.with, [name]) || context.grants.includes(grant)) continue;
    const message = `files of the ${level} may not set ${name} of ${action.name} without the operator's grant of ${grant}`;
    context.reportKey([...at, 'with', name], 'level', message);
  }
  if (context.grants.includes(action.name)) return;
  if (!action.granted) {
    const granted = context.registry.actions.filter((one) => one.granted).map((one) => one.name);
    const message = `files of the ${level} may not use ${action.name} without the operator's grant; they may use ${granted.join(', ')}`;
    context.reportValue([...at, 'uses'], 'level', message);
    return;
  }
  for (const name of action.operatorOnly ?? []) {
    const path = name.split('.');
    if (!has(form.with, path)) continue;
    const message = `files of the ${level} may not set ${name} of ${action.name} without the operator's grant`;
    context.reportKey([...at, 'with', ...path], 'level', message);
  }
}

/** Returns the names of the action and facts that a step may use only because of a grant. */
function namesByGrant({ action, condition, arguments: given }: LoadedStep): readonly string[] {
  const isGranted =
    action.granted && !(action.operatorOnly ?? []).some((name) => has(given.written, name.split('.')));
  const facts = [...(condition?.facts ?? []), ...given.facts].map(({ name }) => name);
  const own = Object.entries(action.ownGrants ?? {}).flatMap(([name, grant]) =>
    has(given.written, [name]) ? [grant] : [],
  );
  return [...(isGranted ? [] : [action.name]), ...own, ...facts];
}

function has(value: unknown, path: readonly string[]): boolean {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = Reflect.get(inner, name);
  }
  return inner !== undefined;
}

function checkSubjects(
  action: Action,
  at: YamlPath,
  context: FileContext,
  occasions: readonly Occasion[],
): void {
  const wrong = [...new Set(occasions.map(({ subject }) => subject))].filter(
    (subject) => !action.of.includes(subject),
  );
  if (wrong.length === 0) return;
  const message = `${action.name} works on ${action.of.join(', ')}; this rule is also about ${wrong.join(', ')}`;
  context.reportValue(
    [...at, 'uses'],
    'subject',
    message.replace('also ', occasions.length > 1 ? 'also ' : ''),
  );
}

function loadArguments(
  action: Action,
  written: unknown,
  at: YamlPath,
  { context, scopes, expressions, occasions }: StepOptions,
): LoadedStep['arguments'] | undefined {
  const schema = action.arguments;
  const parsed = schema.safeParse(written);
  if (!parsed.success) {
    for (const problem of problemsOf(written, schema, context.file, at, { fallback: 'argument' }))
      context.add(problem);
  } else {
    const place = {
      level: context.level,
      subjects: occasions.map(({ subject }) => subject),
      scopes: scopes.map(({ written: patterns }) => patterns),
    };
    const found = [
      ...(action.examine?.(parsed.data) ?? []),
      ...(action.examineAt?.(parsed.data, place) ?? []),
    ];
    for (const { path, message } of found) {
      context.reportValue([...at, ...path], 'argument', message);
    }
    const examineLevel = context.level === 'operator' ? undefined : action.examineBelowOperator;
    for (const { path, message } of examineLevel?.(parsed.data) ?? []) {
      const text = `files of the ${context.level} may not use ${action.name} like this, whatever the grants: ${message}`;
      context.reportValue([...at, ...path], 'level', text);
    }
  }
  if (expressions === undefined) return undefined;
  // Conditions are checked even if the arguments have other mistakes, so that all problems are reported together.
  const value = parsed.success ? parsed.data : written;
  const placeOf = (path: ArgumentPath): ExpressionPlace => placeIn(context, [...at, ...path]);
  const onArgumentWarning = ({ path, problem }: ArgumentProblem): void =>
    context.warnInside([...at, ...path], problem);
  const compiled = compileArguments(value, schema, { ...expressions, onArgumentWarning }, placeOf);
  if ('arguments' in compiled) return parsed.success ? compiled.arguments : undefined;
  for (const { path, problem } of compiled.problems) context.reportInside([...at, ...path], problem);
  return undefined;
}

type OnForm = z.output<typeof On>;

/** An `on` in normalized form. */
type ReadOn = {
  readonly on: readonly Listening[];
  readonly schedules: readonly Schedule[];
  /** Whether the events follow from what the rule reads. */
  readonly isAutomatic: boolean;
};

/**
 * Returns the families and schedules of a rule. Reports invalid filters, patterns that can never match, and schedules
 * that can never run.
 */
function readOn(written: OnForm, at: YamlPath, context: FileContext): ReadOn {
  const on: Listening[] = [];
  const schedules: Schedule[] = [];
  let isAutomatic = false;
  const entries = Array.isArray(written)
    ? written.map((entry, place) => ({ entry, path: [...at, place] }))
    : [{ entry: written, path: at }];
  for (const { entry, path } of entries) {
    if (typeof entry === 'string') {
      if (entry === 'auto') isAutomatic = true;
      else on.push(readWord(entry));
      continue;
    }
    for (const [key, form] of Object.entries(entry)) {
      const place = [...path, key];
      if (key === 'schedule') {
        const schedule = checkSchedule(form as string | { cron: string; timezone?: string }, place, context);
        if (schedule) schedules.push(schedule);
      } else if (form !== undefined) {
        // The cast is safe: the grammar allows only families and `schedule` as keys.
        on.push(readForm(key as Family, form, place, context));
      }
    }
  }
  return { on, schedules, isAutomatic };
}

/**
 * Returns the families that can be recognized in an invalid `on`, so that the rest of the rule can be checked. The
 * grammar reports the mistake in `on`.
 */
function readFamilies(written: unknown): ReadOn {
  const words = (Array.isArray(written) ? written : [written]).flatMap((entry: unknown) => {
    if (typeof entry === 'string') return [entry.split('.')[0] ?? ''];
    return typeof entry === 'object' && entry !== null ? Object.keys(entry) : [];
  });
  const families = words.filter((word): word is Family => Object.hasOwn(eventFamilies, word));
  return { on: [...new Set(families)].map((family) => ({ family })), schedules: [], isAutomatic: false };
}

function readWord(word: string): Listening {
  const [family = '', activity] = word.split('.');
  return { family: family as Family, ...(activity !== undefined && { activities: [activity] }) };
}

function readForm(family: Family, form: unknown, path: YamlPath, context: FileContext): Listening {
  if (form === null) return { family };
  if (typeof form === 'string') return { family, activities: [form] };
  if (Array.isArray(form)) return { family, activities: form };
  return readFilter(family, form as ListeningFilter, path, context);
}

type ListeningFilter = Readonly<Record<string, string | readonly string[] | undefined>>;

const filterNames = {
  branches: 'branches',
  'branches-ignore': 'branchesIgnore',
  tags: 'tags',
  'tags-ignore': 'tagsIgnore',
  paths: 'paths',
  'paths-ignore': 'pathsIgnore',
} as const;

/**
 * Returns the filters that may be used with a family: pull requests have no tags; issues have neither branches nor
 * files.
 */
function allowedFilters(family: Family): readonly string[] {
  if (family === 'push') return Object.keys(filterNames);
  if (family === 'create' || family === 'delete')
    return ['branches', 'branches-ignore', 'tags', 'tags-ignore'];
  if (eventFamilies[family].subject === 'pull_request') {
    return ['branches', 'branches-ignore', 'paths', 'paths-ignore'];
  }
  return [];
}

function readFilter(
  family: Family,
  filter: ListeningFilter,
  path: YamlPath,
  context: FileContext,
): Listening {
  const { types, ...patterns } = filter;
  const listening: Record<string, Pattern> = {};
  const allowed = allowedFilters(family);
  for (const [key, written] of Object.entries(patterns)) {
    if (written === undefined) continue;
    if (!allowed.includes(key)) {
      context.reportKey(
        [...path, key],
        'filter',
        `events of ${family} have no ${key.replace('-ignore', '')} to filter by`,
      );
      continue;
    }
    if (key.endsWith('-ignore') && patterns[key.replace('-ignore', '')] !== undefined) {
      context.reportKey(
        [...path, key],
        'filter',
        `${key} beside ${key.replace('-ignore', '')}: use ! in one list`,
      );
      continue;
    }
    const pattern = readPattern(written, [...path, key], context);
    if (pattern) listening[filterNames[key as keyof typeof filterNames]] = pattern;
  }
  const activities = types === undefined ? {} : { activities: typeof types === 'string' ? [types] : types };
  return { family, ...activities, ...listening };
}

/** Compiles a pattern filter, or reports its problem. */
function readPattern(
  written: string | readonly string[],
  path: YamlPath,
  context: FileContext,
  compile: (patterns: readonly string[]) => Matcher = compileGlob,
): Pattern | undefined {
  const list = typeof written === 'string' ? [written] : written;
  try {
    return { written: list, matches: compile(list) };
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const place = list.findIndex(
      (entry) => entry.replace(/^!/, '') === error.pattern || entry === error.pattern,
    );
    const at = typeof written === 'string' || place < 0 ? path : [...path, place];
    context.reportValue(at, 'pattern', error.message);
    return undefined;
  }
}

type ScheduleForm = string | { readonly cron: string; readonly timezone?: string | undefined };

/**
 * Returns a valid schedule, or reports its problem. A schedule has five cron fields and an existing timezone; below the
 * operator level, it runs at most hourly.
 */
function checkSchedule(written: ScheduleForm, path: YamlPath, context: FileContext): Schedule | undefined {
  const cron = (typeof written === 'string' ? written : written.cron).trim();
  const timezone = typeof written === 'string' ? 'UTC' : (written.timezone ?? 'UTC');
  const at = typeof written === 'string' ? path : [...path, 'cron'];
  const fields = cron.split(/\s+/);
  const problem = explainCron(cron, fields);
  if (problem !== undefined) {
    context.reportValue(at, 'schedule', problem);
    return undefined;
  }
  if (!isTimezone(timezone)) {
    const message = `there is no timezone "${timezone}"; names are those of the IANA database, such as Europe/Berlin`;
    context.reportValue([...path, 'timezone'], 'schedule', message, nearestTimezone(timezone));
    return undefined;
  }
  if (context.level !== 'operator' && !/^\d+$/.test(fields[0] ?? '')) {
    const message = `files of the ${context.level} run at most hourly: the first field must be one minute`;
    context.reportValue(at, 'level', message);
    return undefined;
  }
  return { cron, timezone };
}

/** The five cron fields, with their names and ranges. */
const cronFields = [
  { name: 'minute', values: '0 to 59' },
  { name: 'hour', values: '0 to 23' },
  { name: 'day of month', values: '1 to 31' },
  { name: 'month', values: '1 to 12, or jan to dec' },
  { name: 'day of week', values: '0 to 7, or sun to sat' },
] as const;

export function explainCron(cron: string, fields = cron.split(/\s+/)): string | undefined {
  const word = foreignSchedules.get(cron.replace(/^@|^every /, ''));
  if (word !== undefined) return `"${cron}" is not a schedule: write five cron fields, "${word}"`;
  if (fields.length === 6) return 'six cron fields: seconds are not supported, write five';
  if (fields.length !== 5) {
    return `"${cron}" is not a schedule: write five cron fields (minute, hour, day of month, month, day of week), such as "17 3 * * *"`;
  }
  if (validate(cron)) return undefined;
  const place = fields.findIndex(
    (field, at) => !validate(['*', '*', '*', '*', '*'].with(at, field).join(' ')),
  );
  const wrong = cronFields[place];
  // If a weekday is given as well, an impossible day of the month is an alternative that never matches, not an error.
  const hasWeekday = !/^[*?]/.test(fields[2] ?? '') && !/^[*?]/.test(fields[4] ?? '');
  if (place < 0 && hasWeekday) return undefined;
  if (wrong === undefined) return `"${cron}" is not a valid schedule: no date has this day and month`;
  return `"${cron}" is not a schedule: field ${place + 1} (${wrong.name}) cannot be "${fields[place]}"; it takes ${wrong.values}, lists (1,15), ranges (1-5) and steps (*/2)`;
}

/** Returns the timezone of this city, otherwise the most similar name, or undefined. */
function nearestTimezone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = written.toLowerCase().replaceAll(' ', '_');
  return zones.find((zone) => zone.toLowerCase().split('/').at(-1) === city) ?? nearest(written, zones);
}

/** Returns the most similar action name, or undefined. */
function suggestAction(name: string, known: readonly string[]): string | undefined {
  const plain = name.replace(/@.*$/, '');
  const translated = actionsElsewhere.get(plain);
  return translated !== undefined && known.includes(translated) ? translated : nearest(plain, known);
}
