import { z } from 'zod';
import { ForgeProblem } from '../core/errors.ts';
import type { FormValues } from './body.ts';

/**
 * Returns the members of a body that a form can carry, as JSON would have them: texts, numbers, flags and lists of these.
 * Fields that the shape does not know are ignored; members of other kinds stay absent, as with the baseline's binder.
 */
export function valueOfForm(shape: z.ZodType, values: FormValues): Readonly<Record<string, unknown>> {
  if (!(shape instanceof z.ZodObject)) return {};
  const members = Object.entries(shape.shape).flatMap(([name, member]) => {
    const given = values.get(name);
    const value = given && convert(unwrapShape(member as z.ZodType), name, given);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

/** Returns the schema inside of optional and nullable ones. */
export function unwrapShape(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  // The classes of zod hide their inner schema's type behind the core's.
  return isWrapped ? unwrapShape(schema.unwrap() as z.ZodType) : schema;
}

function convert(schema: z.ZodType, name: string, given: readonly string[]): unknown {
  if (schema instanceof z.ZodArray) {
    const items = given.map((text) => convertOne(unwrapShape(schema.element as z.ZodType), name, text));
    return items.includes(undefined) ? undefined : items;
  }
  // A list of ids or names has no type that a form's text could be converted to: its items are null.
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

/** What Go's `strconv.ParseBool` takes, and what browsers send for a box that is ticked. */
const flags: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True', 'on'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False', ''].map((text) => [text, false] as const),
]);

function parseFlag(name: string, text: string): boolean {
  const flag = flags.get(text);
  if (flag === undefined) throw new ForgeProblem(422, `[${name}]: Value could not be parsed as boolean`);
  return flag;
}
