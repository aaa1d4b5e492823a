import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey } from '../../facts/fact.ts';
import { LimitExceeded, type Meter } from '../../patterns/meter.ts';
import { ReeveError } from '../../platform/errors.ts';
import { costs } from './budget/costs.ts';
import type { Evaluate } from './interpret/frame.ts';
import { interpret } from './interpret/interpret.ts';
import { collectReads, type Read, type Reads } from './interpret/reads.ts';
import type { ExpressionEnvironment, Knowledge, Known } from './knowledge.ts';
import { textOf } from './parse/tree.ts';
import type { Resolution } from './resolve/resolution.ts';
import { toReading } from './values/reading.ts';
import { anyType } from './values/types.ts';
import { type Adapter, adapt, adapterOf, Failure } from './values/values.ts';

/** A part of an expression that runs as a whole, with what it reads. */
export type Part = {
  readonly text: string;
  readonly reads: Reads;
  readonly roots: readonly FactRequest[];
  readonly evaluate: Evaluate;
  /** How the values of the reads are shown, in their order. */
  readonly adapters: readonly Adapter[];
};

/** Result of one expression: its value, or why it has none. */
export type Result = { readonly value: unknown } | { readonly error: string; readonly cause?: Error };

/** Returns the part of an expression that starts at this node. */
export function createPart(node: ASTNode, resolution: Resolution): Part {
  const reads = collectReads(node, resolution.members);
  const roots = [...new Map([...reads.needs, ...reads.asks].map((root) => [factKey(root), root])).values()];
  return {
    text: textOf(node),
    reads,
    roots,
    evaluate: interpret(node, roots, resolution),
    adapters: reads.reads.map((read) => adapterOf(resolution.types.get(read.node) ?? anyType)),
  };
}

/** The values of one evaluation: each name is looked up once, for all parts. */
export class Values {
  readonly meter: Meter;
  readonly #knowledge: Knowledge;
  readonly #environment: ExpressionEnvironment;
  readonly #known = new Map<string, Known | undefined>();
  readonly #readings = new Map<string, unknown>();

  constructor(knowledge: Knowledge, environment: ExpressionEnvironment, meter: Meter) {
    this.#knowledge = knowledge;
    this.#environment = environment;
    this.meter = meter;
  }

  find(request: FactRequest): Known | undefined {
    const key = factKey(request);
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const known = this.#knowledge.find(request);
    const type = this.#environment.names.get(request.name)?.type ?? anyType;
    const adapted = known && 'value' in known ? { value: adapt(known.value, adapterOf(type)) } : known;
    this.#known.set(key, adapted);
    return adapted;
  }

  /** Returns what a read saw, as people read it. */
  readingOf(read: Read, adapter: Adapter): unknown {
    const key = `${read.text}\n${read.shown.join()}`;
    if (!this.#readings.has(key)) this.#readings.set(key, this.#show(read, adapter));
    return this.#readings.get(key);
  }

  #show(read: Read, adapter: Adapter): unknown {
    const known = this.find(read.root);
    const root = known && 'value' in known ? known.value : undefined;
    const value = adapt(follow(root, read.path), adapter);
    this.meter.charge(typeof value === 'object' && value !== null ? costs.longReading : costs.reading);
    return toReading(value, read.shown, this.meter);
  }
}

/** Runs one part. Never throws. */
export function runPart(part: Part, values: Values): Result {
  try {
    values.meter.charge(costs.part);
    const slots: unknown[] = [];
    for (const root of part.roots) {
      const known = values.find(root);
      const isNeeded = part.reads.needs.includes(root);
      if (known === undefined && isNeeded) return { error: `there is no ${factKey(root)} here` };
      if (known && 'error' in known && (isNeeded || !isAbsence(known.error))) {
        return { error: known.error.message, cause: known.error };
      }
      slots.push(known && 'value' in known ? known.value : undefined);
    }
    const value = part.evaluate({ slots, meter: values.meter });
    return value instanceof Failure ? { error: value.message } : { value };
  } catch (error) {
    if (error instanceof LimitExceeded) return { error: error.message };
    throw error;
  }
}

/** What the forge says is not there is an answer to has(), not a failure. */
function isAbsence(error: Error): boolean {
  return error instanceof ReeveError && error.code === 'forge-not-found';
}

/** Returns what a part saw: member chain or fact as written → value, cut for reading. */
export function valuesRead(part: Part, values: Values): Record<string, unknown> {
  const readings: Record<string, unknown> = {};
  try {
    for (const [place, read] of part.reads.reads.entries()) {
      const known = values.find(read.root);
      const adapter = part.adapters[place];
      if (known && 'value' in known && adapter) readings[read.text] = values.readingOf(read, adapter);
    }
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    // The answer stands; only its evidence is incomplete, and says so.
    readings['…'] = 'not shown: the evaluation budget is used up';
  }
  return readings;
}

/** Returns the value at the end of a chain, or null where the chain ends before. */
function follow(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = Reflect.get(value, key);
  }
  return value;
}
