import type { z } from 'zod';
import type { Action } from '../actions/action.ts';
import { actions } from '../actions/actions.ts';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import { isRecord } from '../contract/events/payload-members.ts';
import type { NamedCondition } from '../rules/expressions/named-conditions.ts';
import { parseExpression } from '../rules/expressions/parse.ts';
import type { ExpressionContext } from '../rules/expressions/resolve.ts';
import { endOfInserted, opening } from '../rules/expressions/template.ts';
import { definitionOf } from '../rules/expressions/types.ts';
import { FileContext } from '../rules/files/context.ts';
import { schemasAt } from '../rules/files/issues.ts';
import { environmentOf } from '../rules/files/load-rule.ts';
import { readYaml, type YamlPath } from '../rules/files/yaml-source.ts';
import { registry } from '../rules/registry.ts';
import { levelOfFile } from '../rules/sources/repository-file.ts';
import { memberAt } from './open-files.ts';
import type { Place } from './place.ts';

/** A place in a file of which the grammar is known. */
export type PlaceInFile = Place & { readonly filePath: string; readonly schema: z.ZodType };

/** An expression around the cursor, with the names that it may use. */
export type Slot = {
  readonly source: string;
  /** Offset of the cursor in `source`. */
  readonly at: number;
  readonly context: ExpressionContext;
};

/** Returns the schemas that the value at a path may have; the arguments of a step have those of its action. */
export function schemasOf(place: PlaceInFile, path: YamlPath): readonly z.ZodType[] {
  const step = stepAt(path);
  if (step === undefined || step.rest === undefined) return schemasAt(place.schema, path);
  const action = actionOf(place, step.at);
  return action === undefined ? [] : schemasAt(action.arguments, step.rest);
}

/** Returns the path of the step that contains a path, and the rest of the path in the arguments of the step. */
function stepAt(path: YamlPath): { readonly at: YamlPath; readonly rest: YamlPath | undefined } | undefined {
  if (path[0] !== 'rules' || path[2] !== 'steps' || path.length < 4) return undefined;
  return { at: path.slice(0, 4), rest: path[4] === 'with' ? path.slice(5) : undefined };
}

/** Returns the action of the step that contains a path; undefined if there is none. */
export function actionOf({ file }: Pick<Place, 'file'>, path: YamlPath): Action | undefined {
  const uses = memberAt(file, [...path.slice(0, 4), 'uses']);
  return actions.find(({ name }) => name === uses);
}

/** Returns the expression around the cursor: a condition, or what `${{ }}` inserts; undefined if there is none. */
export function slotOf(place: PlaceInFile): Slot | undefined {
  if (place.role !== 'value') return undefined;
  const { text, at, path } = place;
  if (!isInRuleFile(place)) return undefined;
  if (isCondition(place)) return { source: text, at, context: contextOf(place) };
  const start = text.lastIndexOf(opening, Math.max(0, at - opening.length));
  if (start < 0 || text[start - 1] === '$' || path[0] === 'params') return undefined;
  const from = start + opening.length;
  const end = endOfInserted(text, from) ?? text.length;
  return at < from || at > end
    ? undefined
    : { source: text.slice(from, end), at: at - from, context: contextOf(place) };
}

function isInRuleFile({ path }: PlaceInFile): boolean {
  return path[0] === 'rules' || path[0] === 'conditions' || path[0] === 'include';
}

function isCondition(place: PlaceInFile): boolean {
  const { path } = place;
  if (path[0] === 'conditions') return path.length === 2;
  if (path[0] === 'rules' && path.at(-1) === 'if') return path.length === 3 || path.length === 5;
  return (
    stepAt(path)?.rest !== undefined &&
    schemasOf(place, path).some((schema) => holdsOf(schema) === 'condition')
  );
}

/** Returns what a string argument holds, also inside of what makes it optional or one of several. */
function holdsOf(schema: z.ZodType): unknown {
  const { holds } = schema.meta() ?? {};
  if (holds !== undefined) return holds;
  const { innerType, in: before, options = [], getter } = definitionOf(schema);
  const inner = [innerType, before, getter?.(), ...options].filter((one) => one !== undefined);
  return inner.map(holdsOf).find((one) => one !== undefined);
}

/** Every occasion, for expressions of which nothing says when they are evaluated. */
const everyOccasion = Object.entries(eventFamilies).map(([family, { subject }]) => ({
  family: family as Family,
  subject,
}));

function contextOf({ file, filePath, path }: PlaceInFile): ExpressionContext {
  const level = levelOfFile(filePath);
  // Problems that this context collects are those of `examine`, and are not needed here.
  const context = new FileContext(
    { path: filePath, level, commit: '', text: '', registry },
    readYaml(filePath, ''),
  );
  const [part, name] = path;
  const rule = part === 'rules' && typeof name === 'string' ? memberAt(file, [part, name]) : undefined;
  const environment = rule === undefined ? undefined : environmentOf(String(name), rule, context);
  return {
    ...context.expressions(environment ?? context.environment(everyOccasion)),
    named: conditionsOf(file),
  };
}

function conditionsOf(file: unknown): ReadonlyMap<string, NamedCondition> {
  const written = memberAt(file, ['conditions']);
  const named = new Map<string, NamedCondition>();
  for (const [name, text] of Object.entries(isRecord(written) ? written : {})) {
    const node = parseExpression(String(text));
    const usable = 'message' in node ? parseExpression('true') : node;
    if (!('message' in usable)) named.set(name, { name, node: usable });
  }
  return named;
}
