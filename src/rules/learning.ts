import type { Subject } from '../contract/events/subject.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import { narrowPayload } from '../facts/where.ts';
import type { Meter } from '../patterns/meter.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { Knowledge, Known } from './expressions/knowledge.ts';

/** Payloads are narrowed once for all rules of a run. */
const narrowedPayloads = new WeakMap<Subject, { readonly of: object; readonly payload: object }>();

function narrowedOnce(payload: object, subject: Subject): object {
  const known = narrowedPayloads.get(subject);
  if (known?.of === payload) return known.payload;
  const narrowed = narrowPayload(payload, subject);
  narrowedPayloads.set(subject, { of: payload, payload: narrowed });
  return narrowed;
}

/**
 * The knowledge of one rule in one run: what was given, and the facts that were asked so far. Facts are asked in
 * parallel and once; one that cannot be asked is remembered with its error and makes only those conditions fail that
 * depend on it.
 */
export class Learning implements Knowledge {
  readonly #facts: Facts;
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #sees: 'all' | 'repository';
  readonly #meter: Meter | undefined;
  readonly #known = new Map<string, Known>();

  /** `sees`: all, or what anybody may know who may write in the repository. `meter` pays for what facts evaluate. */
  constructor(
    facts: Facts,
    given: Readonly<Record<string, unknown>>,
    { sees = 'all', meter }: { readonly sees?: 'all' | 'repository'; readonly meter?: Meter } = {},
  ) {
    this.#facts = facts;
    this.#sees = sees;
    // An item of a sweep is a fact that was read as part of a list.
    this.#given = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, this.#narrowed(name, value)]),
    );
    this.#meter = meter;
  }

  /** Asks what is not known yet. */
  async learn(requests: readonly FactRequest[]): Promise<void> {
    const missing = requests.filter((request) => this.find(request) === undefined);
    if (missing.length === 0) return;
    // What an answer of the others may hold is asked after them, or it would cost a request of its own.
    const held = missing.filter(({ name }) => findFact(name)?.within);
    const others = missing.filter((request) => !held.includes(request));
    await Promise.all([...others, ...held].map((request) => this.#ask(request)));
  }

  find(request: FactRequest): Known | undefined {
    if (request.argument === undefined && Object.hasOwn(this.#given, request.name)) {
      return { value: this.#given[request.name] };
    }
    return this.#known.get(factKey(request));
  }

  async #ask(request: FactRequest): Promise<void> {
    try {
      const value = await this.#facts.ask(request);
      // Asked once for all rules, and charged to each that reads it: what a rule may do does not depend on the others.
      const cost = this.#facts.costOf(request);
      if (cost > 0) this.#meter?.enter(`the fact ${factKey(request)}`);
      this.#meter?.charge(cost);
      this.#known.set(factKey(request), { value: this.#narrowed(request.name, value) });
    } catch (error) {
      const reason = error instanceof Error ? error : new ReeveError('internal', messageOf(error));
      this.#known.set(factKey(request), { error: reason });
    }
  }

  #narrowed(name: string, value: unknown): unknown {
    // Rules of the operator see no more of it: the dashboard shows it to those who may read what the event is about.
    if (name === 'event' && typeof value === 'object' && value !== null)
      return narrowedOnce(value, this.#facts.subject);
    const { narrow, narrowsForAll } = findFact(name) ?? {};
    if (narrow === undefined || (this.#sees === 'all' && !narrowsForAll)) return value;
    return typeof value === 'object' && value !== null ? narrow(value, this.#facts.subject) : value;
  }
}
