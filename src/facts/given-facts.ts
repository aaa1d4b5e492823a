import { z } from 'zod';
import { isRecord } from '../contract/events/payload-members.ts';
import type { Subject } from '../contract/events/subject.ts';
import { type Fact, type FactRequest, type Facts, factKey, typedAsk } from './fact.ts';
import { findFact } from './facts.ts';
import { guardGiven } from './given-value.ts';

/** Thrown when a what-if reads a fact that was not given: there is no forge to request it from. */
export class FactNotGiven extends Error {}

type GivenFactsOptions = {
  readonly subject: Subject;
  readonly given: Readonly<Record<string, unknown>>;
  /** Stands in for the live subject; members that are given replace its own. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Returns where the value of a fact is written. Present: reading a member that the value lacks and a forge always sends is an error
   * that names this place. Absent: values are passed on as they are, without the time that this takes.
   */
  readonly placeOf?: ((name: string, isStandIn: boolean) => string) | undefined;
  /** Called with each fact that is read, not given, and that the reader cannot do without. */
  readonly onMissing?: ((request: FactRequest) => void) | undefined;
};

/** Creates facts from given values, without a forge: for `--facts`, rule tests and what-if. */
export function createGivenFacts(options: GivenFactsOptions): Facts {
  const { given, onMissing, placeOf } = options;
  const payload = withGivenMembers(options.payload, given);
  const facts: Facts = {
    subject: options.subject,
    ask: typedAsk(async (request) => {
      const fact = findFact(request.name);
      const written = givenValue(request, fact, given);
      // Null is a valid answer: no such file, no milestone.
      const isMerged = standIns.has(request.name) && isRecord(written);
      const value = written === undefined || isMerged ? standIn(request.name, payload) : written;
      if (value === undefined) {
        if (!request.optional) onMissing?.(request);
        throw new FactNotGiven(`${factKey(request)} is not given`);
      }
      if (fact === undefined) return value;
      const whole = fact.complete ? fact.complete(value) : value;
      if (placeOf === undefined) return whole;
      return guardGiven(
        whole,
        fact.shape,
        `${placeOf(request.name, written === undefined)}.${factKey(request)}`,
      );
    }),
    fresh: () => facts,
    anew: () => facts,
    forget() {},
    has: () => false,
    costOf: () => 0,
  };
  return facts;
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

const standIns = new Set(['repository', 'pull_request', 'issue', 'comment']);

/** Returns the payload with what is given of the subject. */
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

/** Returns a value with the members that are given for it, at every depth. Lists and other values are replaced as a whole. */
export function mergeGiven(value: unknown, given: unknown): unknown {
  if (!isRecord(value) || !isRecord(given)) return given;
  const merged = new Map(Object.entries(value));
  for (const [name, member] of Object.entries(given)) merged.set(name, mergeGiven(value[name], member));
  return Object.fromEntries(merged);
}

/** Returns the member of a value that is a fact of its own, such as `pull_request.behind`. */
function memberIn(value: unknown, member: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
  return Reflect.get(value, member);
}

function standIn(name: string, payload: Readonly<Record<string, unknown>> = {}): unknown {
  const [owner = '', member] = name.split('.');
  if (member !== undefined) return memberIn(standIn(owner, payload), member);
  if (standIns.has(name)) return payload[name] ?? undefined;
  const carrier = payload.pull_request ?? payload.issue;
  if (name === 'head') return headIn(carrier) ?? headIn({ head: { sha: payload.after } });
  if (typeof carrier !== 'object' || carrier === null) return undefined;
  if (name === 'labels') return 'labels' in carrier ? (carrier.labels ?? []) : undefined;
  if (name === 'milestone') return 'milestone' in carrier ? carrier.milestone : undefined;
  return undefined;
}

function headIn(carrier: unknown): { sha: string } | undefined {
  const sides = z.object({ head: z.object({ sha: z.string() }) }).safeParse(carrier);
  return sides.success ? sides.data.head : undefined;
}
