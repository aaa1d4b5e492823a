import { z } from 'zod';

/** Thrown when an action reads a member of a given value that is missing, or has another type. */
export class GivenValueUnfit extends Error {}

/**
 * Returns a given value that actions read like an answer of a forge, although it was written by hand: a missing list is
 * empty. A text or object that every forge sends and that is missing throws `GivenValueUnfit` with its path, as does a
 * value of another type; other members may be missing. `path` says where the value was written (`facts.reviews`).
 */
export function guardGiven(value: unknown, shape: z.ZodType, path: string): unknown {
  const isList = isListShape(shape);
  if (value === null && (isList || shape.safeParse(null).success)) return isList ? [] : null;
  const inner = innerOf(shape);
  const expected = expectedOf(inner);
  if (expected === undefined) return value;
  if (givenKindOf(value) !== expected) {
    throw new GivenValueUnfit(`${path} must be ${kinds[expected]}, but is ${describe(value)}`);
  }
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item, place) => guardGiven(item, inner.element as z.ZodType, `${path}[${place}]`));
  }
  return inner instanceof z.ZodObject ? guardMembers(value as object, inner.shape, path) : value;
}

function guardMembers(value: object, members: z.core.$ZodLooseShape, path: string): object {
  return new Proxy(
    { ...value },
    {
      get(target, name) {
        const found: unknown = Reflect.get(target, name);
        if (typeof name !== 'string' || !Object.hasOwn(members, name)) return found;
        const shape = members[name] as z.ZodType;
        if (found !== undefined) return guardGiven(found, shape, `${path}.${name}`);
        if (isListShape(shape)) return [];
        const isOptional = shape.safeParse(undefined).success && !decisive.has(name);
        if (isOptional || !isTextOrObject(shape)) return undefined;
        throw new GivenValueUnfit(`${path}.${name} must be ${describeShape(shape)}, but is missing`);
      },
    },
  );
}

/** Members that decide whether there is anything to do: without them, an action would plan nothing and say nothing. */
const decisive: ReadonlySet<string> = new Set(['state', 'status']);

const kinds = {
  list: 'a list',
  object: 'an object',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
};
type GivenKind = keyof typeof kinds;

/** Returns what a value of this shape is, for messages: `a list`, or the texts that it may be. */
export function describeShape(shape: z.ZodType): string {
  const inner = innerOf(shape);
  if (inner instanceof z.ZodEnum) return inner.options.join(', ').replace(/, (?=[^,]*$)/, ' or ');
  const expected = expectedOf(inner);
  return expected === undefined ? 'a value' : kinds[expected];
}

function describe(value: unknown): string {
  const kind = givenKindOf(value);
  return kind === undefined ? 'null' : kinds[kind];
}

function givenKindOf(value: unknown): GivenKind | undefined {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return value === null ? undefined : 'object';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

/** A number or a flag that is missing only compares as different; of these, members and methods are read, or a word decides. */
function isTextOrObject(shape: z.ZodType): boolean {
  const inner = innerOf(shape);
  return inner instanceof z.ZodString || inner instanceof z.ZodObject || inner instanceof z.ZodEnum;
}

/** Returns what a value must be; undefined where the shape allows several kinds. */
function expectedOf(inner: z.ZodType): GivenKind | undefined {
  if (inner instanceof z.ZodArray) return 'list';
  if (inner instanceof z.ZodObject || inner instanceof z.ZodRecord) return 'object';
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return 'string';
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodBoolean ? 'boolean' : undefined;
}

/** A list of `contract/shape.ts` is never absent in an answer: null and missing are read as empty. */
function isListShape(shape: z.ZodType): boolean {
  return shape instanceof z.ZodPipe && innerOf(shape) instanceof z.ZodArray;
}

function innerOf(shape: z.ZodType): z.ZodType {
  let current = shape;
  for (;;) {
    if (current instanceof z.ZodOptional || current instanceof z.ZodNullable || current instanceof z.ZodLazy)
      current = current.unwrap() as z.ZodType;
    else if (current instanceof z.ZodPipe) current = current.in as z.ZodType;
    else return current;
  }
}
