import type { Client } from '../client/client.ts';
import type { Subject } from '../contract/events/subject.ts';
import { Meter, type Pool } from '../patterns/meter.ts';
import { BoundedMap } from '../platform/cache/bounded-map.ts';
import type { MonotonicClock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import {
  type Ask,
  type AskContext,
  type FactClock,
  type FactMemory,
  type FactOccasion,
  type FactRecords,
  type FactRequest,
  type Facts,
  factKey,
  typedAsk,
} from './fact.ts';
import { findFact } from './facts.ts';

/**
 * Maximum age of a cached value. A label that a user creates becomes visible after this time at the latest, or earlier
 * if a rule needs it.
 */
const memoryMs = 5 * 60_000;
/** Maximum number of cached values; beyond this number, the oldest is removed. */
const memoryEntries = 2_000;

/** Creates a cache of values shared between runs. `clock` is monotonic. */
export function createFactMemory(clock: MonotonicClock): FactMemory {
  const entries = new BoundedMap<string, { value: unknown; atMs: number }>(memoryEntries);
  const ageMs = (key: string): number | undefined => {
    const entry = entries.get(key);
    const age = entry && clock.monotonicMs() - entry.atMs;
    return age === undefined || age > memoryMs ? undefined : age;
  };
  return {
    ageMs,
    get: (key) => (ageMs(key) === undefined ? undefined : entries.get(key)?.value),
    set(key, value) {
      entries.set(key, { value, atMs: clock.monotonicMs() });
    },
    drop(prefix) {
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
    },
  };
}

/** For a fact key: whether the cache must be bypassed, and whether the value may come from another fact's answer. */
type Sharing = { readonly isAnew: (key: string) => boolean; readonly mayTake: (key: string) => boolean };

type AskedFact = {
  readonly answer: Promise<unknown>;
  answeredAtMs: number;
  readonly pool: Pool;
  /** Keys of the facts from which the answer is derived. */
  readonly reads: ReadonlySet<string>;
};

/** Options for creating the facts of a run. */
type FactsOptions = {
  readonly client: Client;
  readonly subject: Subject;
  readonly memory: FactMemory;
  readonly clock: FactClock;
  readonly occasion?: FactOccasion | undefined;
  readonly records?: FactRecords | undefined;
  /** Maximum evaluation units for the patterns of one fact; no limit if absent. */
  readonly units?: number | undefined;
};

/**
 * Creates the facts of one run: each fact is requested when first used, and requested again only through `fresh` and
 * `anew`.
 */
export function createFacts(options: FactsOptions): Facts {
  /** Latest answer of each fact within the run; an answer that is recent enough is not requested again. */
  const latest = new Map<string, AskedFact>();
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
      let ageMs = 0;
      const noteAge = (age = 0): void => {
        ageMs = age;
      };
      const call = { ask: askPart, anew: isAnew(key), pool, options, noteAge };
      const entry: AskedFact = {
        answer: source ? takeFrom(source, request, call) : askForge(request, call),
        answeredAtMs: Number.POSITIVE_INFINITY,
        pool,
        reads,
      };
      asked.set(key, entry);
      latest.set(key, entry);
      const stamp = (): void => {
        const parts = [source, ...Array.from(reads, (one) => asked.get(one))];
        entry.answeredAtMs = Math.min(options.clock.monotonicMs() - ageMs, ...parts.map(timeOf));
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
          const fromMs = options.clock.monotonicMs() - maxAgeMs;
          if (isSince(entry, fromMs)) return;
          // A negative maximum age accepts no existing answer.
          const newer = maxAgeMs < 0 ? undefined : latest.get(key);
          if (newer && isSince(newer, fromMs)) return void kept.set(key, newer);
          kept.delete(key);
          dropped.add(key);
          // An answer is as old as the oldest fact from which it is derived, so these facts are checked as well.
          for (const part of entry?.reads ?? []) if (!dropped.has(part)) drop(part);
        };
        for (const request of requests) drop(factKey(request));
        return asking(kept, { isAnew: (key) => dropped.has(key), mayTake: (key) => !dropped.has(key) });
      },
      anew(kept = []) {
        const keys = new Set(kept.map(factKey));
        const known = new Map([...asked].filter(([key]) => keys.has(key)));
        return asking(known, { isAnew: () => true, mayTake: () => true });
      },
      forget(names) {
        const id = options.subject.repository?.id;
        for (const name of names) options.memory.drop(`${id}/${name}`);
      },
      has: (request) => asked.has(factKey(request)),
      costOf(request) {
        const left = asked.get(factKey(request))?.pool.left;
        return left === undefined || options.units === undefined ? 0 : options.units - left;
      },
    };
  }
}

/** Returns the monotonic time of an answer in ms; infinity if the answer is pending or absent. */
const timeOf = (asked: AskedFact | undefined): number => asked?.answeredAtMs ?? Number.POSITIVE_INFINITY;

const isSince = (asked: AskedFact | undefined, fromMs: number): boolean =>
  asked !== undefined && timeOf(asked) >= fromMs;

/** Takes a fact from the answer of another fact; requests it if that answer does not contain it. */
async function takeFrom(source: AskedFact, request: FactRequest, call: ForgeCall): Promise<unknown> {
  const answer = await source.answer.catch(() => undefined);
  const value: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, request.name) : undefined;
  return value === undefined || value === null ? askForge(request, call) : value;
}

async function askForge(
  request: FactRequest,
  { ask, anew, pool, options, noteAge }: ForgeCall,
): Promise<unknown> {
  const fact = findFact(request.name);
  const { client, subject, memory, clock, occasion, records, units } = options;
  if (fact === undefined) throw new ReeveError('internal', `there is no fact "${request.name}"`);
  if (!fact.of.includes(subject.kind)) {
    throw new ReeveError('forge-not-found', `a ${subject.kind} has no ${request.name}`);
  }
  const describe = (): string =>
    `too large to judge: ${factKey(request)} needs more than ${units} units of evaluation; see docs/reference/limits.md`;
  const meter = new Meter({ pool, reserve: 0, describe });
  const context = { client, subject, memory, ask, anew, occasion, records, meter, clock, noteAge };
  return fact.ask(context, request.argument);
}

/** The request state of one fact. */
type ForgeCall = {
  readonly ask: AskContext['ask'];
  readonly anew: boolean;
  readonly pool: Pool;
  readonly options: FactsOptions;
  readonly noteAge: AskContext['noteAge'];
};

/** Returns facts in which the named fact has this answer, whatever the argument; all other facts are unchanged. */
export function withAnswer(facts: Facts, name: string, answer: unknown): Facts {
  return {
    ...facts,
    ask: typedAsk(async (request) => (request.name === name ? answer : facts.ask(request))),
    fresh: (requests, maxAgeMs) => withAnswer(facts.fresh(requests, maxAgeMs), name, answer),
    anew: (kept) => withAnswer(facts.anew(kept), name, answer),
  };
}
