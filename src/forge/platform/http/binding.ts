import { z } from 'zod';
import { isRecord } from '../../../contract/events/payload-members.ts';
import type { Operation } from '../../../contract/operation.ts';
import { ForgeProblem } from '../errors.ts';
import type { FormValues, SentBody } from './body.ts';

/**
 * Binds the parts of a request as Gitea's binder does, guided by the contract's schemas: unknown fields are ignored,
 * `null` counts as absent, a required field must not be an empty string or 0, and path and query numbers that do not
 * parse are 0 or absent. The schemas themselves are for clients, and stricter.
 */

/** Returns the path parameters; a number that does not parse is 0, which matches no row. */
export function bindParams(operation: Operation, given: Readonly<Record<string, string>>): unknown {
  const params: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(operation.params.shape)) {
    const text = given[name] ?? '';
    const isEither = schema instanceof z.ZodUnion;
    if (schema instanceof z.ZodNumber) params[name] = readInteger(text) ?? 0;
    else params[name] = isEither ? (readInteger(text) ?? text) : text;
  }
  return params;
}

/** Returns the query parameters that the operation defines. */
export function bindQuery(operation: Operation, query: URLSearchParams): unknown {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(operation.query?.shape ?? {})) {
    const value = readQueryValue(unwrapShape(schema as z.ZodType), query, name);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function readQueryValue(schema: z.ZodType, query: URLSearchParams, name: string): unknown {
  const first = query.get(name);
  if (first === null) return undefined;
  if (schema instanceof z.ZodArray) {
    const isNumeric = schema.element instanceof z.ZodNumber;
    return isNumeric ? query.getAll(name).map((text) => readInteger(text) ?? 0) : query.getAll(name);
  }
  if (schema instanceof z.ZodNumber) return readInteger(first);
  if (schema instanceof z.ZodBoolean) return first === '' ? undefined : trueTexts.has(first);
  return first;
}

const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True', 'on']);

function readInteger(text: string): number | undefined {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Returns the body as the operation defines it, or ends the request with 422 (400 for a list with mixed types). */
export function bindBody(operation: Operation, sent: SentBody): unknown {
  const { body } = operation;
  if (!body) return undefined;
  // `null` binds like an object without fields.
  const value = sent.kind === 'json' ? (sent.value ?? {}) : valueOfForm(body, sent.values);
  return bind(body, value, { operation, name: '' });
}

type ParameterPlace = { readonly operation: Operation; readonly name: string };

function bind(schema: z.ZodType, value: unknown, place: ParameterPlace): unknown {
  if (schema instanceof z.ZodObject) return bindObject(schema, value, place);
  // zod declares inner schemas with the type of its core; all of them are schemas of this same zod.
  if (schema instanceof z.ZodOptional) return bind(schema.unwrap() as z.ZodType, value, place);
  if (schema instanceof z.ZodNullable) return bind(schema.unwrap() as z.ZodType, value, place);
  if (schema instanceof z.ZodArray) return bindList(schema.element as z.ZodType, value, place);
  if (schema instanceof z.ZodUnion) return bindUnion(schema.options as z.ZodType[], value, place);
  if (schema instanceof z.ZodRecord) return bindRecord(schema.valueType as z.ZodType, value, place);
  const result = schema.safeParse(value);
  if (!result.success) throw refused(place, 'wrong type or value');
  return result.data;
}

function bindObject(schema: z.ZodObject, value: unknown, place: ParameterPlace): unknown {
  if (!isRecord(value)) throw refused(place, 'not an object');
  const bound: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.shape)) {
    const inner = { ...place, name };
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const isRequired = !(member instanceof z.ZodOptional) && !place.operation.mayBeMissing?.includes(name);
    if (isRequired && isZero(given)) throw refused(inner, 'Required');
    if (given !== undefined && given !== null) bound[name] = bind(member as z.ZodType, given, inner);
    else if (!(member instanceof z.ZodOptional)) bound[name] = emptyOf(member as z.ZodType);
  }
  return bound;
}

function emptyOf(member: z.ZodType): unknown {
  if (member instanceof z.ZodNumber) return 0;
  return member instanceof z.ZodString ? '' : [];
}

/** Returns the zero value of a list's element type, which replaces a `null` in the list. */
function emptyItem(element: z.ZodType, place: ParameterPlace): unknown {
  return element instanceof z.ZodObject ? bind(element, {}, place) : emptyOf(element);
}

function bindList(element: z.ZodType, value: unknown, place: ParameterPlace): unknown {
  if (!Array.isArray(value)) throw refused(place, 'not a list');
  return value.map((item) => (item === null ? emptyItem(element, place) : bind(element, item, place)));
}

/**
 * Binds a union, which in a body is a list of ids or of names. Fractions are truncated; a mixed list is a client error
 * (400).
 */
function bindUnion(options: readonly z.ZodType[], value: unknown, place: ParameterPlace): unknown {
  if (!Array.isArray(value)) throw refused(place, 'not a list');
  const cut = value.map((item) => (typeof item === 'number' ? Math.trunc(item) : item));
  for (const option of options) {
    const result = option.safeParse(cut);
    if (result.success) return result.data;
  }
  throw new ForgeProblem(400, `[${place.name}]: must be all numbers or all texts`);
}

function bindRecord(valueType: z.ZodType, value: unknown, place: ParameterPlace): unknown {
  if (!isRecord(value)) throw refused(place, 'not an object');
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, bind(valueType, item, { ...place, name })]));
}

/**
 * Returns whether a required field counts as missing. Gitea's binder does not treat an empty list as a zero value, nor
 * `false` for operations that require a flag.
 */
function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function refused(place: ParameterPlace, text: string): ForgeProblem {
  return new ForgeProblem(422, `[${place.name}]: ${text}`);
}

/**
 * Returns the fields of a body that a form can carry, as JSON values: strings, numbers, flags and lists of these.
 * Fields that the schema does not define are ignored; fields of other types stay absent, as in Gitea's binder.
 */
function valueOfForm(shape: z.ZodType, values: FormValues): Readonly<Record<string, unknown>> {
  if (!(shape instanceof z.ZodObject)) return {};
  const members = Object.entries(shape.shape).flatMap(([name, member]) => {
    const given = values.get(name);
    const value = given && convert(unwrapShape(member as z.ZodType), name, given);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

/** Returns the schema inside optional and nullable wrappers. */
export function unwrapShape(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  // zod declares inner schemas with the type of its core.
  return isWrapped ? unwrapShape(schema.unwrap() as z.ZodType) : schema;
}

function convert(schema: z.ZodType, name: string, given: readonly string[]): unknown {
  if (schema instanceof z.ZodArray) {
    const items = given.map((text) => convertOne(unwrapShape(schema.element as z.ZodType), name, text));
    return items.includes(undefined) ? undefined : items;
  }
  // A list of ids or names has no single item type to which a form's text could be converted, so its items are null.
  if (schema instanceof z.ZodUnion) return given.map(() => null);
  return convertOne(schema, name, given[0] ?? '');
}

function convertOne(schema: z.ZodType, name: string, text: string): unknown {
  if (schema instanceof z.ZodNumber) return parseInteger(name, text);
  if (schema instanceof z.ZodBoolean) return parseFlag(name, text);
  return schema instanceof z.ZodString || schema instanceof z.ZodEnum ? text : undefined;
}

function parseInteger(name: string, text: string): number {
  if (text === '') return 0;
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new ForgeProblem(422, `[${name}]: Value could not be parsed as integer`);
}

/** Values that Go's `strconv.ParseBool` accepts, and the value that browsers send for a checked box. */
const flags: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True', 'on'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False', ''].map((text) => [text, false] as const),
]);

function parseFlag(name: string, text: string): boolean {
  const flag = flags.get(text);
  if (flag === undefined) throw new ForgeProblem(422, `[${name}]: Value could not be parsed as boolean`);
  return flag;
}
