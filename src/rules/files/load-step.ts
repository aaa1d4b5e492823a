import type { Action } from '../../actions/action.ts';
import { type ArgumentPath, type ArgumentProblem, bracesProblem, compileArguments } from '../arguments.ts';
import { type Condition, compileCondition, type ExpressionPlace } from '../expressions/conditions.ts';
import type { ExpressionEnvironment } from '../expressions/environment.ts';
import type { ExpressionProblem } from '../expressions/expression-problem.ts';
import { hasTemplate } from '../expressions/template.ts';
import { type LoadedStep, levels } from '../rule.ts';
import type { FileContext } from './context.ts';
import type { Occasion } from './environment.ts';
import type { StepForm } from './grammar.ts';
import { problemsOf } from './issues.ts';
import { suggestAction } from './remedies.ts';
import type { YamlPath } from './yaml-source.ts';

type StepOptions = {
  readonly context: FileContext;
  readonly environment: ExpressionEnvironment | undefined;
  readonly occasions: readonly Occasion[];
};

/**
 * Returns a step checked and compiled, or reports everything that is wrong with it. Without an environment (`on` is
 * broken) its expressions are left alone, since it is unknown what they may name.
 */
export function loadStep(
  form: StepForm,
  number: number,
  at: YamlPath,
  options: StepOptions,
): LoadedStep | undefined {
  const { context, environment, occasions } = options;
  const before = context.problems.length;
  const condition = loadCondition(form.if, [...at, 'if'], context, environment);
  const action = findActionAt(form.uses, [...at, 'uses'], context);
  if (action === undefined) return undefined;
  checkPowers(action, form, at, context);
  checkSubjects(action, at, context, occasions);
  const given = loadArguments(action, form.with ?? {}, [...at, 'with'], context, options);
  if (given === undefined || context.problems.length > before) return undefined;
  return {
    name: form.name ?? `${number} ${action.name}`,
    action,
    arguments: given,
    line: context.file.lineOf(context.file.valueAt(at).start).line,
    ...(condition && { condition }),
  };
}

/** Returns the condition under a key compiled, or reports its problems; undefined too where there is none. */
export function loadCondition(
  written: string | boolean | undefined,
  at: YamlPath,
  context: FileContext,
  environment: ExpressionEnvironment | undefined,
): Condition | undefined {
  if (written === undefined || environment === undefined) return undefined;
  const text = String(written);
  const braces = bracesProblem(text);
  const onWarning = (warning: ExpressionProblem): void => context.warnInside(at, warning);
  const expressions = { ...context.expressions(environment), onWarning };
  const compiled = braces
    ? { problems: [braces] }
    : compileCondition(text, expressions, placeIn(context, at));
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
    ? 'uses takes no expression: name the action'
    : `there is no action "${name}"${list}`;
  context.reportValue(at, isTemplate ? 'template' : 'unknown-action', message, suggestion);
  return undefined;
}

function checkPowers(action: Action, form: StepForm, at: YamlPath, context: FileContext): void {
  const { level } = context;
  if (level === 'operator') return;
  if (action.onlyFor !== undefined && levels.indexOf(level) > levels.indexOf(action.onlyFor)) {
    const message = `files of the ${level} may not use ${action.name}, with no grant: only those of the ${action.onlyFor} may`;
    context.reportValue([...at, 'uses'], 'level', message);
    return;
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
    const message = `files of the ${level} may not say ${name} of ${action.name} without the operator's grant`;
    context.reportKey([...at, 'with', ...path], 'level', message);
  }
}

/** Returns the names of the action and of the facts that a step uses by grant alone. */
export function namesByGrant({ action, condition, arguments: given }: LoadedStep): readonly string[] {
  const isGranted =
    action.granted && !(action.operatorOnly ?? []).some((name) => has(given.written, name.split('.')));
  const facts = [...(condition?.facts ?? []), ...given.facts].map(({ name }) => name);
  return [...(isGranted ? [] : [action.name]), ...facts];
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
  context: FileContext,
  { environment, occasions }: Pick<StepOptions, 'environment' | 'occasions'>,
): LoadedStep['arguments'] | undefined {
  const schema = action.arguments;
  const parsed = schema.safeParse(written);
  if (!parsed.success) {
    for (const problem of problemsOf(written, schema, context.file, at, { fallback: 'argument' }))
      context.add(problem);
  } else {
    const place = { level: context.level, subjects: occasions.map(({ subject }) => subject) };
    const found = [
      ...(action.examine?.(parsed.data) ?? []),
      ...(action.examineAt?.(parsed.data, place) ?? []),
    ];
    for (const { path, message } of found) {
      context.reportValue([...at, ...path], 'argument', message);
    }
    const examineLevel = context.level === 'operator' ? undefined : action.examineBelowOperator;
    for (const { path, message } of examineLevel?.(parsed.data) ?? []) {
      const text = `files of the ${context.level} may not use ${action.name} like this, with no grant: ${message}`;
      context.reportValue([...at, ...path], 'level', text);
    }
  }
  if (environment === undefined) return undefined;
  // Conditions of arguments that are wrong elsewhere are checked all the same: all problems are listed at once.
  const value = parsed.success ? parsed.data : written;
  const placeOf = (path: ArgumentPath): ExpressionPlace => placeIn(context, [...at, ...path]);
  const onArgumentWarning = ({ path, problem }: ArgumentProblem): void =>
    context.warnInside([...at, ...path], problem);
  const expressions = { ...context.expressions(environment), onArgumentWarning };
  const compiled = compileArguments(value, schema, expressions, placeOf);
  if ('arguments' in compiled) return parsed.success ? compiled.arguments : undefined;
  for (const { path, problem } of compiled.problems) context.reportInside([...at, ...path], problem);
  return undefined;
}
