import type { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { Family } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import type { Subject, SubjectKind } from '../contract/events/subject.ts';
import type { Access, ScopeCategory } from '../contract/operation.ts';
import type { Meter } from '../patterns/meter.ts';
import type { Clock, MonotonicClock } from '../platform/clock.ts';
import type { Way } from './ways.ts';

/**
 * Who can see the value of a fact on the forge. `repository`: anyone with write access; `admin`: administrators of the
 * repository; `beyond`: people outside the repository, because the value comes from other repositories, the
 * organization or the instance.
 */
export type Shows = 'repository' | 'admin' | 'beyond';

/**
 * Audience of a fact's value or an action's change on the dashboard, from most to fewest users. `repository`: everyone
 * who can read the repository; `subject`: everyone who can read the subject of the delivery; a unit: everyone who can
 * read that unit; `administrators`: administrators of the repository; `operators`: operators of Reeve. Each audience
 * includes those after it.
 */
export type Audience =
  | 'repository'
  | 'subject'
  | 'code'
  | 'issues'
  | 'pulls'
  | 'administrators'
  | 'operators';

declare const valueType: unique symbol;

/**
 * The request of a fact by an expression or an action; `Value` is the type of its answer. Two requests are equal if
 * their names and arguments are equal.
 */
export type FactRequest<Value = unknown> = {
  readonly name: string;
  readonly argument?: string;
  /** Set if the reader works without the fact when there is no forge; a rule test need not supply it. */
  readonly optional?: true;
  /** Never set; carries only the type. */
  readonly [valueType]?: Value;
};

/** Requests a fact and returns its value. */
export type Ask = <Value>(request: FactRequest<Value>) => Promise<Value>;

/** The event of a run, for facts that compare it with live state. */
export type FactOccasion = {
  readonly event: Pick<Event, 'family' | 'activity' | 'payload' | 'sender'>;
  /** Time of the run. */
  readonly now: Date;
  /** Age beyond which a comment triggers nothing; absent when planning past events. */
  readonly maxAnnouncedAgeMs?: number | undefined;
};

/** Context of a fact's request. `memory` is shared between runs; entries are removed by key. */
export type AskContext = {
  readonly client: Client;
  readonly subject: Subject;
  readonly memory: FactMemory;
  /** True if the cache must be bypassed because a write or a rule has shown that it is stale. */
  readonly anew: boolean;
  /** Absent if no event started the run. */
  readonly occasion?: FactOccasion | undefined;
  /**
   * Charged for the patterns from the repository that the fact evaluates; the cost counts for each rule that reads the
   * fact.
   */
  readonly meter: Meter;
  readonly clock: FactClock;
  /** Absent without a store, as in a CI job or a rule test. */
  readonly records?: FactRecords | undefined;
  /** Records the age in ms of a cached value, so that a rule that needs a newer value requests the fact again. */
  noteAge(ageMs: number | undefined): void;
  /** Reads another fact of the same run (requested once). */
  readonly ask: Ask;
};

/** A monotonic clock for the age of answers; `sleep` waits until a forge has computed a result. */
export interface FactClock extends MonotonicClock {
  readonly sleep?: Clock['sleep'];
}

/** Values that facts store for later runs. Nothing is stored in read-only mode. */
export interface FactRecords {
  get(key: string): Promise<unknown>;
  /** Stores a value with the time of the run as `at`. */
  set(key: string, value: object): Promise<void>;
}

/**
 * Cache of values that remain valid across runs until they are invalidated, such as label definitions. Keys of values
 * about a repository begin with its id, keys of values about an owner with `owner/NAME`.
 */
export interface FactMemory {
  get(key: string): unknown;
  /** Returns the age of a cached value in ms; undefined if there is none. */
  ageMs(key: string): number | undefined;
  set(key: string, value: unknown): void;
  /** Removes every entry whose key starts with `prefix`. */
  drop(prefix: string): void;
}

/**
 * A value about the subject: requested lazily, once for all rules of a run, and with all pages. `shape` is the type in
 * conditions; the loader checks every member access against it.
 */
export type Fact<Value = unknown> = {
  readonly name: string;
  readonly meaning: string;
  readonly shows: Shows;
  /**
   * Restricts the fact to the operator's rule files, regardless of grants. Absent: any file may read it, or only files
   * with the grant.
   */
  readonly onlyFor?: 'operator';
  /**
   * Audience of the fact's values on the dashboard. Facts from outside the repository, and narrowed facts, are for
   * operators.
   */
  readonly visibleTo: Audience;
  readonly shape: z.ZodType<Value>;
  /** Kinds of subjects that have this fact. */
  readonly of: readonly SubjectKind[];
  /**
   * The ways in which the value changes while the item stays the same; for an object whose members change in different
   * ways, those of each member that changes. Absent: the fact exists only for some events, or for other subjects than
   * issues and pull requests.
   */
  readonly changes?: readonly Way[] | Readonly<Record<string, readonly Way[]>>;
  /** Requirements for the account on the forge: access level, and read scopes of the token. */
  readonly needs: {
    readonly access: Access;
    readonly scopes: readonly ScopeCategory[];
    /** Access level needed in the cases named in `meaning`. */
    readonly sometimes?: Access;
  };
  /** Event families for which the fact is available. Absent: all families, and schedules. */
  readonly families?: readonly Family[];
  /**
   * A rule for one of the fact's `families` may also list other families; for events of those, the fact has a value
   * that indicates its absence.
   */
  readonly elsewhere?: true;
  /** Name of the fact's literal argument (`contents("path")`); absent if the fact takes none. */
  readonly argument?: string;
  /** Returns why a literal argument is invalid, as the continuation of a sentence. */
  readonly examineArgument?: (argument: string) => string | undefined;
  /** Returns why files other than the operator's may not use a literal argument, regardless of grants. */
  readonly examineBelowOperator?: (argument: string) => string | undefined;
  /** Number of requests if all lists fit on one page, for the reference page. */
  readonly requests: number;
  readonly example: string;
  /**
   * Facts whose answers contain this fact under its name. If one of them was read in this run, this fact costs no
   * request and has the age of that answer.
   */
  readonly within?: readonly string[];
  /**
   * The fact may change without an event on some forges. If a step that waits for checks is blocked only by this fact,
   * the rule is evaluated again.
   */
  readonly isPolled?: true;
  /** Expands short forms in a facts file (such as a label given by its name). Absent: values are used as written. */
  readonly complete?: (written: unknown) => unknown;
  /** Returns the part of a value that rules of repositories and organizations see. Absent: they see the whole value. */
  narrow?(value: Value, subject: Subject): unknown;
  /**
   * Rules of the operator also see the narrowed value. Absent: they see the whole value, which the dashboard then shows
   * only to operators.
   */
  readonly narrowsForAll?: true;
  readonly ask: (context: AskContext, argument: string | undefined) => Promise<Value>;
};

/** Returns its argument as a row of the table of facts, typed by its shape. */
export function defineFact<Shape extends z.ZodType>(
  fact: Fact<z.output<Shape>> & { readonly shape: Shape },
): Fact<z.output<Shape>> {
  return fact;
}

/** Returns the request of a fact, typed by its shape. `argument` is the fact's literal argument, if it takes one. */
export function requestOf<Value>(fact: Fact<Value>, argument?: string): FactRequest<Value> {
  return argument === undefined ? { name: fact.name } : { name: fact.name, argument };
}

/** A request of a fact that the reader works without when there is no forge. */
export type OptionalRequest<Value = unknown> = FactRequest<Value> & { readonly optional: true };

/** Returns an optional request of a fact: the reader works without it when there is no forge. */
export function optionalRequestOf<Value>(fact: Fact<Value>, argument?: string): OptionalRequest<Value> {
  return { ...requestOf(fact, argument), optional: true };
}

/** Types an `ask` that looks facts up by name: its result has the type of the requested fact. */
export function typedAsk(ask: (request: FactRequest) => Promise<unknown>): Ask {
  return ask as Ask;
}

/**
 * The facts of one run. `ask` rejects if the fact is not available: the condition is then `error`, and the error's
 * `retryable` states whether a later attempt may succeed.
 */
export interface Facts {
  readonly subject: Subject;
  readonly ask: Ask;
  /**
   * Returns facts that request the named facts again, together with the facts from which they are derived, if their
   * answers are older than `maxAgeMs`; all other answers are shared.
   */
  fresh(requests: readonly FactRequest[], maxAgeMs?: number): Facts;
  /** Returns facts that keep only the answers of `kept`; every other fact is requested again, bypassing the cache. */
  anew(kept?: readonly FactRequest[]): Facts;
  /** Removes these facts from the cache, because a write has changed them. */
  forget(names: readonly string[]): void;
  /** Returns whether this fact was already requested, so that `ask` makes no request. */
  has(request: FactRequest): boolean;
  /** Returns the number of units that the patterns of an answered fact cost. */
  costOf(request: FactRequest): number;
}

/** Returns a key that is equal only for equal requests. */
export function factKey(request: FactRequest): string {
  return request.argument === undefined
    ? request.name
    : `${request.name}(${JSON.stringify(request.argument)})`;
}

/** What facts left out of their values, by value. */
const leftOut = new WeakMap<object, readonly string[]>();

/** Records what a fact left out of its value, and why, so that the record of a run shows it. */
export function noteLeftOut(value: object, why: readonly string[]): void {
  if (why.length > 0) leftOut.set(value, why);
}

/** Returns what a fact left out of this value, and why; undefined if nothing. */
export function leftOutOf(value: unknown): readonly string[] | undefined {
  return typeof value === 'object' && value !== null ? leftOut.get(value) : undefined;
}
