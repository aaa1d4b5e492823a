import type { z } from 'zod';
import type { Fact, FactRequest } from '../../facts/fact.ts';

/** Kinds of scalar types. `number` is an int or a double; `any` is a value without a declared shape. */
type Scalar = 'bool' | 'number' | 'string' | 'timestamp' | 'duration' | 'null' | 'any';

/** Static type of a value. A union has at least two alternatives. */
export type Type =
  /** `values`: the only texts that a value of this type has; absent: any. */
  | { readonly kind: Scalar; readonly values?: readonly string[] }
  | { readonly kind: 'list'; readonly item: Type }
  | { readonly kind: 'map'; readonly value: Type }
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, z.ZodType>> }
  | { readonly kind: 'union'; readonly of: readonly Type[] };

export const anyType: Type = { kind: 'any' };
export const boolType: Type = { kind: 'bool' };

/** Returns the union of types. */
export function unionOf(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  const distinct: Type[] = [];
  for (const type of flat) {
    const isScalar = !['list', 'map', 'object'].includes(type.kind);
    const place = distinct.findIndex((other) => other === type || (isScalar && other.kind === type.kind));
    if (place < 0) distinct.push(type);
    // Two different sets of texts together have no restriction that is worth keeping.
    else if (distinct[place] !== type && type.kind === 'string') distinct[place] = { kind: 'string' };
  }
  const [only] = distinct;
  if (only === undefined) return anyType;
  return distinct.length === 1 ? only : { kind: 'union', of: distinct };
}

/** Returns the alternatives of a type: those of a union, otherwise the type itself. */
export function alternatives(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.of : [type];
}

/** Returns whether a value of this type may be of one of these kinds. */
export function mayBe(type: Type, kinds: readonly Type['kind'][]): boolean {
  return alternatives(type).some((one) => one.kind === 'any' || kinds.includes(one.kind));
}

const known = new WeakMap<z.ZodType, Type>();

/**
 * Returns the type of a shape. Optional and nullable values count as present: a condition that uses an absent value
 * fails at run time. A shape with `holds: 'duration'` is a CEL duration.
 */
export function typeOf(shape: z.ZodType): Type {
  const before = known.get(shape);
  if (before) return before;
  // Set before descending, because a shape may contain itself (`z.lazy`).
  known.set(shape, anyType);
  const type = shape.meta()?.holds === 'duration' ? ({ kind: 'duration' } as const) : read(shape);
  known.set(shape, type);
  return type;
}

/** The fields of a zod definition that are used by the shapes of facts and payloads. */
export type ZodDefinition = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly getter?: () => z.ZodType;
};

/** Returns the zod definition of a shape, reduced to the fields declared above. */
export function definitionOf(shape: z.ZodType): ZodDefinition {
  // The cast is safe: zod has a separate type for each kind of definition, and the fields declared above are optional.
  return shape.def as unknown as ZodDefinition;
}

function read(shape: z.ZodType): Type {
  const definition = definitionOf(shape);
  switch (definition.type) {
    case 'string':
    case 'template_literal':
      return { kind: 'string' };
    case 'enum':
      return { kind: 'string', values: Object.values(definition.entries ?? {}).map(String) };
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

/**
 * Returns the type of a pipe. The output type of a transform is unknown, so its input type is used as the best
 * approximation (`null` list → empty list).
 */
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

/** Returns the description of a type, for messages. */
export function describeType(type: Type): string {
  return [...new Set(alternatives(type).map((one) => words[one.kind]))].join(' or ');
}

/** A member of a value: its type, and whether some alternatives of the type lack it. */
type Member = { readonly type: Type; readonly missing: boolean };

/** Returns the member of a type, or undefined if no alternative has it. */
export function memberOf(type: Type, name: string): Member | undefined {
  const found: Type[] = [];
  let missing = false;
  for (const one of alternatives(type)) {
    const inner = memberOfOne(one, name);
    if (inner) found.push(inner);
    // Null has no members either, but whether the value is null is known only at run time.
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

/** Returns all member names that a value of this type may have, for suggestions. */
export function memberNamesOfType(type: Type): readonly string[] {
  const names = alternatives(type).flatMap((one) => (one.kind === 'object' ? Object.keys(one.members) : []));
  return [...new Set(names)];
}

/** A known value, or the error that prevented reading it. */
export type Known = { readonly value: unknown } | { readonly error: Error };

/**
 * Looks up the names of an expression. Returns undefined if the name does not apply (such as `event` on a schedule).
 */
export interface Knowledge {
  find(request: FactRequest): Known | undefined;
}

/** Evidence for one leaf of a condition: its result, and the values it read. */
export type Evidence = {
  readonly expression: string;
  readonly result: 'held' | 'not' | 'error' | 'unevaluated';
  /**
   * Member chain or fact as written → its value, truncated. If the result is `error`, the entry `error` contains the
   * reason.
   */
  readonly values: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/** A name that expressions may use. */
export type Name = {
  readonly type: Type;
  /** The fact to fetch; absent for given values. */
  readonly fact?: Fact;
  /** Descriptions of the occasions on which this name is absent; empty if there are none. */
  readonly missingOn: readonly string[];
  /** Whether the name is the rule's item on every occasion, so that it is never null. */
  readonly isItem?: true;
  /** Why files of this level may not use the name. */
  readonly refusal?: string;
  /** Returns why files of this level may not use the name with this literal argument. */
  readonly refuseArgument?: (argument: string) => string | undefined;
};

/** The names available to the expressions of a rule, over all its occasions. */
export type ExpressionEnvironment = {
  readonly names: ReadonlyMap<string, Name>;
  /** Names that exist on none of the occasions, each with an explanation. */
  readonly absent: ReadonlyMap<string, string>;
  /** Set if the rule has `each: [issue, pull_request]`: either `issue` or `pull_request` is present. */
  readonly ofBoth?: true;
};
