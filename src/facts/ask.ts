import { z } from 'zod';
import { BoundedMap } from '../cache/bounded-map.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Subject } from '../contract/events/subject.ts';
import { ReeveError } from '../errors.ts';
import { Meter, type Pool } from '../patterns/meter.ts';
import {
  type Ask,
  type AskContext,
  type Fact,
  type FactClock,
  type FactMemory,
  type FactOccasion,
  type FactRequest,
  type Facts,
  factKey,
  typedAsk,
} from './fact.ts';
import { findFact } from './facts.ts';

/** Maximum age of a cached answer. A label that a user creates is seen after this time at the latest, earlier if a rule needs it. */
const memoryMs = 5 * 60_000;
/** Maximum number of cached answers; beyond it the oldest is removed. */
const memoryEntries = 2_000;

/** Creates a cache of answers that outlives runs. `clock` is monotonic. */
export function createFactMemory(clock: Pick<Clock, 'monotonicMs'>): FactMemory {
  const entries = new BoundedMap<string, { value: unknown; until: number }>(memoryEntries);
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.until < clock.monotonicMs()) return undefined;
      return entry.value;
    },
    set(key, value) {
      entries.set(key, { value, until: clock.monotonicMs() + memoryMs });
    },
    drop(prefix) {
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
    },
  };
}

/** For each fact by key: whether a cached answer must not be used, and whether it may be taken from another fact's answer. */
type Sharing = { readonly isAnew: (key: string) => boolean; readonly mayTake: (key: string) => boolean };

type AskedFact = {
  readonly answer: Promise<unknown>;
  answeredAtMs: number;
  readonly pool: Pool;
  /** Keys of the facts that its answer was made from. */
  readonly reads: ReadonlySet<string>;
};

/** What the facts of a run are asked with. */
type FactsOptions = {
  readonly client: Client;
  readonly subject: Subject;
  readonly memory: FactMemory;
  readonly clock: FactClock;
  readonly occasion?: FactOccasion | undefined;
  /** Units that the patterns which one fact evaluates may cost; absent: no limit. */
  readonly units?: number | undefined;
};

/** Creates the facts of one run: each is requested when first used, and at most once. */
export function createFacts(options: FactsOptions): Facts {
  return asking(new Map(), { isAnew: () => false, mayTake: () => true });

  function asking(asked: Map<string, AskedFact>, { isAnew, mayTake }: Sharing): Facts {
    const ask: Ask = typedAsk((request) => {
      const key = factKey(request);
      const known = asked.get(key);
      if (known) return known.answer;
      const source = mayTake(key) ? sourceOf(request) : undefined;
      const pool = { left: options.units ?? Number.POSITIVE_INFINITY };
      const reads = new Set<string>();
      const askPart: Ask = typedAsk((part) => {
        reads.add(factKey(part));
        return ask(part);
      });
      const call = { ask: askPart, anew: isAnew(key), pool, options };
      const entry: AskedFact = {
        answer: source ? takeFrom(source, request, call) : askForge(request, call),
        answeredAtMs: Number.POSITIVE_INFINITY,
        pool,
        reads,
      };
      asked.set(key, entry);
      const stamp = (): void => {
        // A value made from other answers has the age of the oldest; a failed one has none.
        const ages = [source, ...Array.from(reads, (one) => asked.get(one))].map(
          (one) => one?.answeredAtMs ?? Number.POSITIVE_INFINITY,
        );
        entry.answeredAtMs = Math.min(options.clock.monotonicMs(), ...ages);
      };
      entry.answer.then(stamp, stamp);
      return entry.answer;
    });
    const sourceOf = ({ name }: FactRequest): AskedFact | undefined => {
      const names = findFact(name)?.within?.filter((known) => asked.has(factKey({ name: known }))) ?? [];
      return names[0] === undefined ? undefined : asked.get(factKey({ name: names[0] }));
    };
    return {
      subject: options.subject,
      ask,
      fresh(requests, maxAgeMs = -1) {
        const kept = new Map(asked);
        const dropped = new Set<string>();
        const drop = (key: string): void => {
          const entry = kept.get(key);
          if (entry && options.clock.monotonicMs() - entry.answeredAtMs <= maxAgeMs) return;
          kept.delete(key);
          dropped.add(key);
          // What an answer was made from is as old as the answer, or older.
          for (const part of entry?.reads ?? []) if (!dropped.has(part)) drop(part);
        };
        for (const request of requests) drop(factKey(request));
        return asking(kept, { isAnew: (key) => dropped.has(key), mayTake: (key) => !dropped.has(key) });
      },
      anew: () => asking(new Map(), { isAnew: () => true, mayTake: () => true }),
      forget(names) {
        const id = options.subject.repository?.id;
        for (const name of names) options.memory.drop(`${id}/${name}`);
      },
      costOf(request) {
        const left = asked.get(factKey(request))?.pool.left;
        return left === undefined || options.units === undefined ? 0 : options.units - left;
      },
    };
  }
}

/** Takes a fact from the answer of another fact; if that does not contain it, requests it. */
async function takeFrom(source: AskedFact, request: FactRequest, call: ForgeCall): Promise<unknown> {
  const answer = await source.answer.catch(() => undefined);
  const value: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, request.name) : undefined;
  return value === undefined || value === null ? askForge(request, call) : value;
}

async function askForge(request: FactRequest, { ask, anew, pool, options }: ForgeCall): Promise<unknown> {
  const fact = findFact(request.name);
  const { client, subject, memory, clock, occasion, units } = options;
  if (fact === undefined) throw new ReeveError('internal', `there is no fact "${request.name}"`);
  if (!fact.of.includes(subject.kind)) {
    throw new ReeveError('forge-not-found', `a ${subject.kind} has no ${request.name}`);
  }
  const describe = (): string =>
    `too large to judge: ${factKey(request)} needs more than ${units} units of evaluation; see docs/reference/limits.md`;
  const meter = new Meter({ pool, reserve: 0, describe });
  return fact.ask({ client, subject, memory, ask, anew, occasion, meter, clock }, request.argument);
}

/** How one fact is asked. */
type ForgeCall = {
  readonly ask: AskContext['ask'];
  readonly anew: boolean;
  readonly pool: Pool;
  readonly options: FactsOptions;
};

/** Returns facts of which one has this answer, whatever its argument; the others are those given. */
export function withAnswer(facts: Facts, name: string, answer: unknown): Facts {
  return {
    ...facts,
    ask: typedAsk(async (request) => (request.name === name ? answer : facts.ask(request))),
    fresh: (requests, maxAgeMs) => withAnswer(facts.fresh(requests, maxAgeMs), name, answer),
    anew: () => withAnswer(facts.anew(), name, answer),
  };
}

/** Thrown when a what-if reads a fact that was not given: there is no forge to request it from. */
export class FactNotGiven extends Error {}

/**
 * Creates facts from given values, without a forge: for `--facts`, rule tests and what-if. `payload` stands in for the
 * live subject if that is not given.
 */
export function createGivenFacts(options: {
  subject: Subject;
  given: Readonly<Record<string, unknown>>;
  payload?: Readonly<Record<string, unknown>> | undefined;
}): Facts {
  const facts: Facts = {
    subject: options.subject,
    ask: typedAsk(async (request) => {
      const fact = findFact(request.name);
      const given = givenValue(request, fact, options.given);
      // Null is a valid answer: no such file, no milestone.
      const value = given === undefined ? standIn(request.name, options.payload) : given;
      if (value === undefined) throw new FactNotGiven(`${factKey(request)} is not given`);
      return fact?.complete ? fact.complete(value) : value;
    }),
    fresh: () => facts,
    anew: () => facts,
    forget() {},
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
