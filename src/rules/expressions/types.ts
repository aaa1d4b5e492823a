import type { z } from 'zod';
import type { Fact, FactRequest } from '../../facts/fact.ts';

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
export type ZodDefinition = {
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

/** A member of a value: its type, and whether some alternatives of the value have no such member. */
type Member = { readonly type: Type; readonly missing: boolean };

/** Returns the member of a type, or undefined where no alternative has it. */
export function memberOf(type: Type, name: string): Member | undefined {
  const found: Type[] = [];
  let missing = false;
  for (const one of alternatives(type)) {
    const inner = memberOfOne(one, name);
    if (inner) found.push(inner);
    // Null has no members either, but that is known only when the rule runs.
    else if (one.kind !== 'null') missing = true;
  }
  return found.length === 0 ? undefined : { type: unionOf(found), missing };
}

function memberOfOne(type: Type, name: string): Type | undefined {
  if (type.kind === 'any') return anyType;
  if (type.kind === 'map') return type.value;
  if (type.kind !== 'object' || !Object.hasOwn(type.members, name)) return undefined;
  const shape = type.members[name];
  return shape && typeOf(shape);
}

/** Returns the names of all members a value may have, for "did you mean". */
export function memberNamesOfType(type: Type): readonly string[] {
  const names = alternatives(type).flatMap((one) => (one.kind === 'object' ? Object.keys(one.members) : []));
  return [...new Set(names)];
}

/** What is known of one name: its value, or why it cannot be known. */
export type Known = { readonly value: unknown } | { readonly error: Error };

/** Answers the names of an expression. An absent answer means that the name does not apply here (no `event` on a clock). */
export interface Knowledge {
  find(request: FactRequest): Known | undefined;
}

/** One leaf condition of a rule with the values it saw. */
export type Evidence = {
  readonly expression: string;
  readonly result: 'held' | 'not' | 'error' | 'unevaluated';
  /** Member chain or fact as written → the value seen, cut for reading. Where the result is `error`, `error` says why. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/** What an expression may say under one name. */
export type Name = {
  readonly type: Type;
  /** The fact to ask; absent for what the run is given. */
  readonly fact?: Fact;
  /** Occasions that do not have it, in words; empty where all do. */
  readonly missingOn: readonly string[];
  /** The item of the rule on every occasion; it is never null. */
  readonly isItem?: true;
  /** Why a file of this origin may not use it. */
  readonly refusal?: string;
  /** Returns why a file of this origin may not use it with a literal argument. */
  readonly refuseArgument?: (argument: string) => string | undefined;
};

/** The names that the expressions of a rule may use, over everything it listens to. */
export type ExpressionEnvironment = {
  readonly names: ReadonlyMap<string, Name>;
  /** Names that exist, but on none of the occasions: why. */
  readonly absent: ReadonlyMap<string, string>;
};
