import type { Meter } from '../../../patterns/meter.ts';
import { costs } from '../budget/costs.ts';
import { isEqual } from './comparison.ts';
import { Duration } from './duration.ts';
import { Double, Failure, TooLarge } from './values.ts';

/**
 * A set of values that are equal as `==` has it. Texts, numbers and times are found at once; lists and objects are
 * compared with every other of the set.
 */
export class ValueSet {
  readonly #keys = new Set<unknown>();
  readonly #instants = new Set<number>();
  readonly #durations = new Set<bigint>();
  readonly #others: unknown[] = [];
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Returns whether an equal value is in the set; a Failure where that cannot be judged. */
  has(value: unknown): boolean | Failure {
    this.#meter.charge(costs.member);
    if (value instanceof TooLarge) return new Failure(`too large to judge: ${value.what}`);
    if (value instanceof Date) return this.#instants.has(value.getTime());
    if (value instanceof Duration) return this.#durations.has(value.nanoseconds);
    if (!isObject(value)) return this.#keys.has(this.#keyOf(value));
    for (const other of this.#others) {
      const equal = isEqual(value, other, this.#meter);
      if (equal !== false) return equal;
    }
    return false;
  }

  add(value: unknown): void {
    this.#meter.charge(costs.member);
    if (value instanceof Date) this.#instants.add(value.getTime());
    else if (value instanceof Duration) this.#durations.add(value.nanoseconds);
    else if (isObject(value)) this.#others.push(value);
    else this.#keys.add(this.#keyOf(value));
  }

  /** An int equals the double of its value, and NaN nothing: each gets a key of its own. */
  #keyOf(value: unknown): unknown {
    if (typeof value === 'string') {
      this.#meter.charge(value.length * costs.copiedCharacter);
      return value;
    }
    if (value instanceof Double) return value.value;
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    if (Number.isNaN(value)) return Symbol('NaN');
    return Number.isInteger(value) ? BigInt(value) : value;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Double);
}
