import type { z } from 'zod';
import { readsArguments } from '../facts/command.ts';
import type { FactRequest } from '../facts/fact.ts';
import type { Meter } from '../patterns/meter.ts';
import { ReeveError } from '../platform/errors.ts';
import {
  type Condition,
  compileCondition,
  type ExpressionPlace,
  jointProspect,
  type Prospect,
} from './expressions/conditions.ts';
import type { Read } from './expressions/part.ts';
import type { ExpressionContext } from './expressions/resolve.ts';
import {
  compileListTemplate,
  compileTemplate,
  hasTemplate,
  insertedIn,
  type ListTemplate,
  opening,
  type Template,
} from './expressions/template.ts';
import { definitionOf, type Evidence, type Knowledge, type ZodDefinition } from './expressions/types.ts';
import type { ExpressionProblem } from './problem.ts';

/** The arguments of a step: as written, and the function that resolves them once the facts are known. */
export type StepArguments = {
  /**
   * The `with` of the step as written in the file, checked against the action's schema: conditions and templates are
   * still text.
   */
  readonly written: unknown;
  /** The facts that the conditions and templates in the arguments read. */
  readonly facts: readonly FactRequest[];
  /** The string literals of the conditions. */
  readonly texts?: readonly string[];
  /** The member chains that the conditions and templates read. */
  readonly reads: readonly Read[];
  /**
   * Returns the arguments in the form that the action expects, or the reason why they cannot be resolved. `step`: name
   * of the step, for error messages. Never throws.
   */
  readonly resolve: (knowledge: Knowledge, meter: Meter, step: string) => ResolvedArguments;
  /** Returns the prospect of all conditions in the arguments together. Absent if there are no conditions. */
  readonly prospect?: (knowledge: Knowledge, meter: Meter) => Prospect;
};

type ResolvedArguments = {
  readonly findings: readonly Evidence[];
} & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly cause?: Error }
);

/** Path in the arguments, made of member names and item indexes. */
export type ArgumentPath = readonly (string | number)[];
export type ArgumentProblem = { readonly path: ArgumentPath; readonly problem: ExpressionProblem };

/** A text in the arguments that is compiled: a condition, a template or a list template. */
type Slot = {
  readonly path: ArgumentPath;
  readonly schema: z.ZodType;
  readonly fills: Fills;
};

type Fills =
  | { readonly condition: Condition }
  | { readonly template: Template }
  | { readonly list: ListTemplate };

/**
 * Returns the arguments of a step with their conditions and templates compiled, or all problems in them. `written` must
 * match the action's schema, which declares where conditions and templates are allowed; a `${{` elsewhere is a problem.
 */
export function compileArguments(
  written: unknown,
  schema: z.ZodType,
  context: ExpressionContext & { readonly onArgumentWarning?: (found: ArgumentProblem) => void },
  placeOf: (path: ArgumentPath) => ExpressionPlace,
): { readonly arguments: StepArguments } | { readonly problems: readonly ArgumentProblem[] } {
  const problems: ArgumentProblem[] = [];
  const slots: Slot[] = [];
  for (const found of textsOf(written, schema, [])) {
    const onWarning = (problem: ExpressionProblem): void =>
      context.onArgumentWarning?.({ path: found.path, problem });
    const compiled = compileText(found, { ...context, onWarning }, placeOf);
    if (compiled === undefined) continue;
    if ('problems' in compiled) {
      problems.push(...compiled.problems.map((problem) => ({ path: found.path, problem })));
    } else {
      slots.push({ path: found.path, schema: found.schema, fills: compiled });
    }
  }
  if (problems.length > 0) return { problems };
  const filled = slots.flatMap(({ fills }) => Object.values(fills));
  return {
    arguments: {
      written,
      facts: filled.flatMap(({ facts }) => facts),
      reads: filled.flatMap(({ reads }) => reads),
      texts: slots.flatMap(({ fills }) => ('condition' in fills ? fills.condition.texts : [])),
      resolve: (knowledge, meter, step) => resolveSlots({ written, slots, step }, knowledge, meter),
      prospect: (knowledge, meter) =>
        jointProspect(
          slots.flatMap(({ fills }) =>
            'condition' in fills ? [fills.condition.prospect(knowledge, meter)] : [],
          ),
        ),
    },
  };
}

/** Returns the paths of the texts that are conditions. */
export function conditionsIn(written: unknown, schema: z.ZodType): readonly ArgumentPath[] {
  return [...textsOf(written, schema, [])]
    .filter(({ holds }) => holds === 'condition')
    .map(({ path }) => path);
}

/** Returns the texts of all expressions in the arguments: conditions, and what templates insert. */
export function expressionsIn(written: unknown, schema: z.ZodType): readonly string[] {
  return [...textsOf(written, schema, [])].flatMap(({ text, holds }) =>
    holds === 'condition' ? [text] : insertedIn(text),
  );
}

type TemplateText = {
  readonly path: ArgumentPath;
  readonly text: string;
  readonly schema: z.ZodType;
  readonly holds: unknown;
  /** Metadata of the text's schema. */
  readonly meta: Readonly<Record<string, unknown>>;
};

/** Yields every text in the arguments, with its schema and the metadata of that schema. */
function* textsOf(
  value: unknown,
  schema: z.ZodType | undefined,
  path: ArgumentPath,
): Generator<TemplateText> {
  const inner = schema && unwrap(schema, value);
  if (typeof value === 'string') {
    const meta = inner?.meta() ?? {};
    if (schema && inner) yield { path, text: value, schema, holds: meta.holds, meta };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const definition = inner && definitionOf(inner);
  for (const [key, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    yield* textsOf(member, definition && schemaOfMember(definition, key), [...path, step]);
  }
}

/**
 * Returns the schema of a member by its key. The key comes from a rule file, so only own properties of the shape count
 * (not `constructor`).
 */
function schemaOfMember({ shape, element, valueType }: ZodDefinition, key: string): z.ZodType | undefined {
  const own = shape !== undefined && Object.hasOwn(shape, key) ? shape[key] : undefined;
  return own ?? element ?? valueType;
}

/**
 * Returns the effective schema of a value: the inner schema of an optional one, or the matching alternative of a union.
 */
function unwrap(schema: z.ZodType, value: unknown): z.ZodType {
  let current = schema;
  for (let step = 0; step < 16 && current.meta()?.holds === undefined; step += 1) {
    const { innerType, in: before, options, getter } = definitionOf(current);
    const fitting = options?.find((option) => option.safeParse(value).success);
    const next = innerType ?? before ?? fitting ?? getter?.();
    if (next === undefined) break;
    current = next;
  }
  return current;
}

type Compiled = Fills | { readonly problems: readonly ExpressionProblem[] };

function compileText(
  { path, text, holds, meta }: TemplateText,
  context: ExpressionContext,
  placeOf: (path: ArgumentPath) => ExpressionPlace,
): Compiled | undefined {
  if (holds === 'condition') {
    const braces = bracesProblem(text);
    return braces ? { problems: [braces] } : compileCondition(text, context, placeOf(path));
  }
  if (String(holds).startsWith('command-')) return compileListTemplate(text, context);
  if (holds === 'base-template') return undefined;
  const isTemplate = holds === 'template' || holds === 'forge-text';
  if (isTemplate) warnOfForeignTemplate(text, context);
  if (!hasTemplate(text)) return undefined;
  if (isTemplate) {
    const [readByForge, lines, commit] = [holds === 'forge-text', meta.lines === true, meta.commit === true];
    const compiled = compileTemplate(text, context, { readByForge, lines, commit });
    return 'problems' in compiled || (readByForge && !commit) ? compiled : refuseArguments(compiled, text);
  }
  const message = `no ${opening} }} here: the text of this argument is used literally`;
  const start = text.indexOf(opening);
  return { problems: [{ code: 'template', message, start, end: text.length }] };
}

const argumentPlaces =
  'in conditions, and as ${{ command("NAME").args }} in add and remove of set-labels, .users in assignees of set-issue and in users of request-reviewers, .milestone in milestone of set-issue, .text in titles and texts of issues, pull requests, comments and reviews';

/**
 * Returns a problem if a template inserts what the author of a comment wrote after a command. Its text would choose a
 * name, a branch, a receiver, an input or the content of a file; only texts that the forge shows may contain it.
 */
function refuseArguments(compiled: { readonly template: Template }, text: string): Compiled {
  const read = compiled.template.reads.find(({ root, path }) => readsArguments(root, path));
  if (read === undefined) return compiled;
  const message = `${read.text} must not be inserted here: arguments of a command may be used ${argumentPlaces}`;
  const start = text.indexOf(opening);
  return { problems: [{ code: 'command', message, start, end: text.length }] };
}

/**
 * Warns of template syntax of Jinja, Mergify and shells, which is not expanded here and would appear literally in the
 * comment.
 */
function warnOfForeignTemplate(text: string, context: ExpressionContext): void {
  const found = /(?<!\$)\{\{|\{%|\$\{(?!\{)/.exec(text);
  if (found === null) return;
  const message = `"${found[0]}" inserts nothing and stays in the text: an expression is written ${opening} … }}`;
  const start = found.index;
  context.onWarning?.({ code: 'template', message, start, end: start + found[0].length });
}

/** Returns a problem if a condition is wrapped in template braces, as other systems require. */
export function bracesProblem(text: string): ExpressionProblem | undefined {
  const start = text.indexOf(opening);
  if (start < 0) return undefined;
  const message = `a condition is already an expression: remove ${opening} and }}`;
  const inner = /^\$\{\{([^{}]*)\}\}$/.exec(text)?.[1]?.trim();
  const fix = inner ? { start, end: text.length, written: text, text: inner } : undefined;
  return { code: 'template', message, start, end: text.length, ...(fix && { fix }) };
}

function resolveSlots(
  {
    written,
    slots,
    step,
  }: { readonly written: unknown; readonly slots: readonly Slot[]; readonly step: string },
  knowledge: Knowledge,
  meter: Meter,
): ResolvedArguments {
  const findings: Evidence[] = [];
  const failures: { readonly reason: string; readonly cause?: Error }[] = [];
  const values = new Map<string, unknown>();
  for (const { path, schema, fills } of slots) {
    const name = path.join('.');
    meter.enter(name, step);
    if ('condition' in fills) {
      const answer = fills.condition.evaluate(knowledge, meter);
      findings.push(...answer.findings);
      if (answer.result === 'error')
        failures.push({ reason: `${name}: ${answer.reason}`, ...causeOf(answer) });
      else values.set(JSON.stringify(path), answer.result === 'held');
    } else if ('list' in fills) {
      const read = fills.list.read(knowledge, meter);
      if ('error' in read) failures.push({ reason: `${name}: ${read.error}`, ...causeOf(read) });
      else values.set(JSON.stringify(path), read.value);
    } else {
      const filled = fills.template.fill(knowledge, meter);
      if ('error' in filled) failures.push({ reason: `${name}: ${filled.error}`, ...causeOf(filled) });
      else values.set(JSON.stringify(path), fitting(filled.value, schema));
    }
  }
  const failure = failures.find(({ cause }) => cause instanceof ReeveError && cause.keepsWork) ?? failures[0];
  if (failure) return { findings, ok: false, ...failure };
  return { findings, ok: true, value: slots.length === 0 ? written : replace(written, values, []) };
}

function causeOf({ cause }: { readonly cause?: Error }): { readonly cause?: Error } {
  return cause === undefined ? {} : { cause };
}

/**
 * Returns the value of a template in a form that the argument accepts. If the template is a single expression and the
 * argument accepts the type of its value, the value keeps this type; otherwise it becomes text.
 */
function fitting(value: string | number | boolean, schema: z.ZodType): unknown {
  return typeof value === 'string' || schema.safeParse(value).success ? value : String(value);
}

function replace(value: unknown, values: ReadonlyMap<string, unknown>, path: ArgumentPath): unknown {
  const key = JSON.stringify(path);
  if (values.has(key)) return values.get(key);
  if (Array.isArray(value)) return value.map((item, place) => replace(item, values, [...path, place]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replace(member, values, [...path, name])]),
  );
}
