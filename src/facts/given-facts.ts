import { z } from 'zod';
import { isRecord } from '../contract/events/payload-members.ts';
import type { Subject } from '../contract/events/subject.ts';
import type { Issue } from '../contract/resources/issues.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Fact, type FactRequest, type Facts, factKey, typedAsk } from './fact.ts';
import { findFact } from './facts.ts';
import { itemOf } from './item.ts';

/** Thrown when a fact is read that was not given, because there is no forge to request it from. */
export class FactNotGiven extends Error {}

type GivenFactsOptions = {
  readonly subject: Subject;
  readonly given: Readonly<Record<string, unknown>>;
  /** Payload that replaces the live subject; fields given as facts override its fields. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Returns the location of a fact's value. If present, reading a missing field that a forge always sends is an error
   * that names this location. If absent, values are passed on unchecked, which is faster.
   */
  readonly placeOf?: ((name: string, isStandIn: boolean) => string) | undefined;
  /**
   * Called with each gap. If present, a gap is read as a placeholder and is no error, so that one run finds all gaps of
   * a rule; its changes mean nothing.
   */
  readonly onGap?: ((gap: Gap) => void) | undefined;
};

/** A required fact that is not given or, with a path, a required member that is missing in the value of a fact. */
export type Gap = {
  readonly request: FactRequest;
  /** The member, with the place of its fact: `facts.reviews[0].state`. */
  readonly path?: string;
  readonly shape: z.ZodType;
};

/** Creates facts from given values, without a forge, for `--facts`, rule tests and what-if. */
export function createGivenFacts(options: GivenFactsOptions): Facts {
  const { given, onGap, placeOf } = options;
  const payload = withGivenMembers(options.payload, given);
  const facts: Facts = {
    subject: options.subject,
    ask: typedAsk(async (request) => {
      const fact = findFact(request.name);
      const written = givenValue(request, fact, given);
      // Null is a valid value, for example for a missing file or no milestone.
      const isMerged = standIns.has(request.name) && isRecord(written);
      const value = written === undefined || isMerged ? standIn(request.name, payload) : written;
      if (value === undefined) {
        // As on a forge, so that has() is false. The subject of an incomplete event is unknown.
        if (isCarrier(options.subject) && fact?.of.includes(options.subject.kind) === false)
          throw new ReeveError('forge-not-found', `a ${options.subject.kind} has no ${request.name}`);
        if (request.optional || onGap === undefined || fact === undefined)
          throw new FactNotGiven(`${factKey(request)} is not given`);
        onGap({ request, shape: fact.shape });
        return placeholderOf(fact.shape, `facts.${factKey(request)}`, noteOf(request, onGap));
      }
      if (fact === undefined) return value;
      const whole = completeGiven(fact, value);
      if (placeOf === undefined) return whole;
      const isIssueSide = request.name === 'issue' && written === undefined && payload.issue === undefined;
      const shown = isIssueSide ? 'pull_request' : factKey(request);
      const path = `${placeOf(isIssueSide ? shown : request.name, written === undefined)}.${shown}`;
      return guardGiven(whole, fact.shape, path, onGap && noteOf(request, onGap));
    }),
    fresh: () => facts,
    anew: () => facts,
    forget() {},
    has: () => false,
    costOf: () => 0,
  };
  return facts;
}

/** Returns the value of a fact with its short forms expanded. A list of objects with an obvious name takes names. */
export function completeGiven(fact: Fact, written: unknown): unknown {
  const value = fact.complete ? fact.complete(written) : written;
  const key = Array.isArray(value) ? nameMemberOf(fact.shape) : undefined;
  if (key === undefined) return value;
  return (value as readonly unknown[]).map((one) => (typeof one === 'string' ? { [key]: one } : one));
}

/** Returns the member that names the items of a list: a login or a name. Items with a text of their own have none. */
function nameMemberOf(shape: z.ZodType): 'login' | 'name' | undefined {
  const inner = innerOf(shape);
  const item = inner instanceof z.ZodArray ? innerOf(inner.element as z.ZodType) : undefined;
  if (!(item instanceof z.ZodObject)) return undefined;
  return (['login', 'name'] as const).find((key) => {
    const member = item.shape[key] as z.ZodType | undefined;
    return member !== undefined && !member.safeParse(undefined).success;
  });
}

function givenValue(
  request: FactRequest,
  fact: Fact | undefined,
  given: Readonly<Record<string, unknown>>,
): unknown {
  const [owner = '', member] = request.name.split('.');
  if (member !== undefined) return memberIn(Object.hasOwn(given, owner) ? given[owner] : undefined, member);
  const value = Object.hasOwn(given, request.name) ? given[request.name] : undefined;
  if (fact?.argument === undefined || request.argument === undefined) return value;
  const byArgument = typeof value === 'object' && value !== null ? value : {};
  return Object.hasOwn(byArgument, request.argument)
    ? (byArgument as Record<string, unknown>)[request.argument]
    : undefined;
}

function isCarrier({ kind }: Subject): boolean {
  return kind === 'issue' || kind === 'pull_request';
}

const standIns = new Set(['repository', 'pull_request', 'issue', 'comment']);

/** Returns the payload with the given fields of the subject. */
function withGivenMembers(
  payload: Readonly<Record<string, unknown>> = {},
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = [...standIns].filter((name) => Object.hasOwn(given, name));
  return {
    ...payload,
    ...Object.fromEntries(names.map((name) => [name, mergeGiven(payload[name], given[name])])),
  };
}

/** Returns a value with given fields merged in, at every depth. Lists and other values are replaced as a whole. */
export function mergeGiven(value: unknown, given: unknown): unknown {
  if (!isRecord(value) || !isRecord(given)) return given;
  const merged = new Map(Object.entries(value));
  for (const [name, member] of Object.entries(given)) merged.set(name, mergeGiven(value[name], member));
  return Object.fromEntries(merged);
}

/** Returns the field of a value that is a separate fact, for example `pull_request.behind`. */
function memberIn(value: unknown, member: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
  return Reflect.get(value, member);
}

function standIn(name: string, payload: Readonly<Record<string, unknown>> = {}): unknown {
  const [owner = '', member] = name.split('.');
  if (member !== undefined) return memberIn(standIn(owner, payload), member);
  if (name === 'issue' && isRecord(payload.pull_request))
    return mergeGiven(issueSideOf(payload.pull_request), payload.issue ?? {});
  if (standIns.has(name)) return payload[name] ?? undefined;
  const carrier = payload.pull_request ?? payload.issue;
  if (name === 'head') return headIn(carrier) ?? headIn({ head: { sha: payload.after } });
  if (typeof carrier !== 'object' || carrier === null) return undefined;
  // The casts are safe: a member that was not given is absent.
  if (name === 'item') return itemOf(carrier as Issue);
  if (name === 'labels') return 'labels' in carrier ? (carrier.labels ?? []) : undefined;
  if (name === 'milestone') return 'milestone' in carrier ? carrier.milestone : undefined;
  return undefined;
}

/** Returns the issue side of a pull request, as far as its members determine it. */
function issueSideOf(pull: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const own = ['draft', 'merged', 'merged_at'].filter((name) => Object.hasOwn(pull, name));
  return {
    // The cast is safe: a member that was not given is absent.
    ...itemOf(pull as unknown as Issue),
    pull_request: Object.fromEntries(own.map((name) => [name, pull[name]])),
  };
}

function headIn(carrier: unknown): { sha: string } | undefined {
  const sides = z.object({ head: z.object({ sha: z.string() }) }).safeParse(carrier);
  return sides.success ? sides.data.head : undefined;
}

/** Thrown when an action reads a field of a given value that is missing or has the wrong type. */
class GivenValueUnfit extends Error {}

/**
 * Guards a handwritten value so that actions can read it like a value from the forge. A missing list is empty. Reading
 * a missing text or object that every forge sends throws `GivenValueUnfit` with its path, as does a value of the wrong
 * type; other fields may be missing. `path` is the location of the value, for example `facts.reviews`. With `note`,
 * missing members are noted and read as placeholders.
 */
export function guardGiven(value: unknown, shape: z.ZodType, path: string, note?: NoteMember): unknown {
  const isList = isListShape(shape);
  if (value === null && (isList || shape.safeParse(null).success)) return isList ? [] : null;
  const inner = innerOf(shape);
  const expected = expectedOf(inner);
  if (expected === undefined) return value;
  if (givenKindOf(value) !== expected) {
    throw new GivenValueUnfit(`${path} must be ${kinds[expected]}, but is ${describe(value)}`);
  }
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item, place) =>
      guardGiven(item, inner.element as z.ZodType, `${path}[${place}]`, note),
    );
  }
  return inner instanceof z.ZodObject ? guardMembers(value as object, inner.shape, path, note) : value;
}

function guardMembers(
  value: object,
  members: z.core.$ZodLooseShape,
  path: string,
  note: NoteMember | undefined,
): object {
  return new Proxy(
    { ...value },
    {
      get(target, name) {
        const found: unknown = Reflect.get(target, name);
        if (typeof name !== 'string' || !Object.hasOwn(members, name)) return found;
        const shape = members[name] as z.ZodType;
        if (found !== undefined) return guardGiven(found, shape, `${path}.${name}`, note);
        if (isListShape(shape)) return [];
        if (!isNeeded(name, shape)) return undefined;
        note?.(`${path}.${name}`, shape);
        if (note !== undefined) return placeholderOf(shape, `${path}.${name}`, note);
        throw new GivenValueUnfit(`${path}.${name} must be ${describeShape(shape)}, but is missing`);
      },
    },
  );
}

function isNeeded(name: string, shape: z.ZodType): boolean {
  return isTextOrObject(shape) && (decisive.has(name) || !shape.safeParse(undefined).success);
}

/** Fields that determine whether there is anything to do: without them, an action would silently plan nothing. */
const decisive: ReadonlySet<string> = new Set(['state', 'status', 'merge_commit_sha']);

/** Called with the path and the shape of a member that is read and missing. */
type NoteMember = (path: string, shape: z.ZodType) => void;

function noteOf(request: FactRequest, onGap: (gap: Gap) => void): NoteMember {
  return (path, shape) => onGap({ request, path, shape });
}

/**
 * Returns a value that is read in place of a missing one, so that a run continues and finds what else is missing: empty
 * lists, and objects that note the members that are read.
 */
function placeholderOf(shape: z.ZodType, path: string, note: NoteMember): unknown {
  const inner = innerOf(shape);
  if (inner instanceof z.ZodEnum) return inner.options[0];
  if (inner instanceof z.ZodObject) return placeholderObject(inner.shape, path, note);
  switch (expectedOf(inner)) {
    case 'list':
      return [];
    case 'string':
      return path.endsWith('.state') ? 'open' : 'placeholder';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return {};
  }
}

function placeholderObject(members: z.core.$ZodLooseShape, path: string, note: NoteMember): object {
  const shapeOf = (name: string | symbol): z.ZodType | undefined =>
    typeof name === 'string' && Object.hasOwn(members, name) ? (members[name] as z.ZodType) : undefined;
  const read = (name: string | symbol): unknown => {
    const shape = shapeOf(name);
    if (shape === undefined) return undefined;
    const place = `${path}.${String(name)}`;
    if (isNeeded(String(name), shape)) note(place, shape);
    return placeholderOf(shape, place, note);
  };
  return new Proxy(
    {},
    {
      get: (_, name) => read(name),
      has: (_, name) => shapeOf(name) !== undefined,
      // Expressions read own members only. The members are not listed: that would read all of them.
      getOwnPropertyDescriptor: (_, name) => {
        const shape = shapeOf(name);
        if (shape === undefined) return undefined;
        return {
          value: placeholderOf(shape, `${path}.${String(name)}`, () => {}),
          configurable: true,
          enumerable: true,
        };
      },
    },
  );
}

const kinds = {
  list: 'a list',
  object: 'an object',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
};
type GivenKind = keyof typeof kinds;

/** Returns a description of a type for messages, for example `a list`, or the allowed texts. */
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

/**
 * Returns whether a schema is for texts or objects. Code reads fields and methods of texts and objects, or branches on
 * their value, whereas a missing number or flag only compares as different.
 */
function isTextOrObject(shape: z.ZodType): boolean {
  const inner = innerOf(shape);
  return inner instanceof z.ZodString || inner instanceof z.ZodObject || inner instanceof z.ZodEnum;
}

/** Returns the expected type of a value; undefined if the schema allows several types. */
function expectedOf(inner: z.ZodType): GivenKind | undefined {
  if (inner instanceof z.ZodArray) return 'list';
  if (inner instanceof z.ZodObject || inner instanceof z.ZodRecord) return 'object';
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return 'string';
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodBoolean ? 'boolean' : undefined;
}

/**
 * Returns whether a schema is a `list` of `contract/shape.ts`. Such a list is never absent in a parsed response: null
 * and missing are read as empty.
 */
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
