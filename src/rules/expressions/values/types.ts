import type { z } from 'zod';

/** Kinds of values that an expression can hold. `number` is an int or a double; `any` is what no shape says. */
type Scalar = 'bool' | 'number' | 'string' | 'timestamp' | 'duration' | 'null' | 'any';

/** What is known of a value before there is one. A union has at least two members. */
export type Type =
  | { readonly kind: Scalar }
  | { readonly kind: 'list'; readonly item: Type }
  | { readonly kind: 'map'; readonly value: Type }
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, z.ZodType>> }
  | { readonly kind: 'union'; readonly of: readonly Type[] };

export const anyType: Type = { kind: 'any' };
export const boolType: Type = { kind: 'bool' };

/** Returns the type of what several shapes allow. */
export function unionOf(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  const distinct: Type[] = [];
  for (const type of flat) {
    const isScalar = !['list', 'map', 'object'].includes(type.kind);
    if (!distinct.some((other) => other === type || (isScalar && other.kind === type.kind)))
      distinct.push(type);
  }
  const [only] = distinct;
  if (only === undefined) return anyType;
  return distinct.length === 1 ? only : { kind: 'union', of: distinct };
}

/** Returns the alternatives of a type, one where it is no union. */
export function alternatives(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.of : [type];
}

/** Returns whether a value of this type may be of one of the kinds. */
export function mayBe(type: Type, kinds: readonly Type['kind'][]): boolean {
  return alternatives(type).some((one) => one.kind === 'any' || kinds.includes(one.kind));
}

const known = new WeakMap<z.ZodType, Type>();

/**
 * Returns the type of a shape. What may be absent or null counts as there: whether it is, is known only when the rule
 * runs, and a condition that needs it then fails. A shape with `holds: 'duration'` is a CEL duration.
 */
export function typeOf(shape: z.ZodType): Type {
  const before = known.get(shape);
  if (before) return before;
  // Set before descending: a shape may name itself (`z.lazy`).
  known.set(shape, anyType);
  const type = shape.meta()?.holds === 'duration' ? ({ kind: 'duration' } as const) : read(shape);
  known.set(shape, type);
  return type;
}

/** The parts of zod's definitions that shapes of facts and payloads use. */
type ZodDefinition = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly values?: readonly unknown[];
  readonly getter?: () => z.ZodType;
};

/** Returns zod's own description of a shape, as far as we read it. */
export function definitionOf(shape: z.ZodType): ZodDefinition {
  // zod types each kind of definition apart; we look at the few members above and expect each to be absent.
  return shape.def as unknown as ZodDefinition;
}

function read(shape: z.ZodType): Type {
  const definition = definitionOf(shape);
  switch (definition.type) {
    case 'string':
    case 'template_literal':
    case 'enum':
      return { kind: 'string' };
    case 'number':
    case 'int':
    case 'bigint':
      return { kind: 'number' };
    case 'boolean':
      return boolType;
    case 'date':
      return { kind: 'timestamp' };
    case 'null':
      return { kind: 'null' };
    case 'literal':
      return unionOf((definition.values ?? []).map(typeOfValue));
    case 'object':
      return { kind: 'object', members: definition.shape ?? {} };
    case 'array':
      return { kind: 'list', item: definition.element ? typeOf(definition.element) : anyType };
    case 'record':
      return { kind: 'map', value: definition.valueType ? typeOf(definition.valueType) : anyType };
    case 'union':
      return unionOf((definition.options ?? []).map(typeOf));
    case 'lazy':
      return definition.getter ? typeOf(definition.getter()) : anyType;
    case 'pipe':
      return typeOfPipe(definition);
    default:
      return definition.innerType ? typeOf(definition.innerType) : anyType;
  }
}

/** A transform says nothing of what it returns; what went in is the best there is (`null` list → empty list). */
function typeOfPipe({ in: before, out: after }: ZodDefinition): Type {
  const shape = after && definitionOf(after).type !== 'transform' ? after : before;
  return shape && definitionOf(shape).type !== 'transform' ? typeOf(shape) : anyType;
}

function typeOfValue(value: unknown): Type {
  switch (typeof value) {
    case 'string':
      return { kind: 'string' };
    case 'number':
    case 'bigint':
      return { kind: 'number' };
    case 'boolean':
      return boolType;
    default:
      return value === null ? { kind: 'null' } : anyType;
  }
}

const words: Readonly<Record<Type['kind'], string>> = {
  bool: 'true or false',
  number: 'a number',
  string: 'text',
  timestamp: 'an instant',
  duration: 'a duration',
  null: 'null',
  any: 'anything',
  list: 'a list',
  map: 'a map',
  object: 'an object',
  union: 'one of several types',
};

/** Returns the words for a type, for messages. */
export function describeType(type: Type): string {
  return [...new Set(alternatives(type).map((one) => words[one.kind]))].join(' or ');
}
