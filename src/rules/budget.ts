import { maxItems, maxText, TooLarge } from './values.ts';

/** Raised inside of an evaluation that would cost too much. One instance an evaluation: loops would make thousands. */
export class TooLargeToJudge extends Error {
  constructor(what: string) {
    super(`too large to judge: ${what}`);
    this.name = 'TooLargeToJudge';
  }
}

const maxCharacters = 1_000_000;
const maxSteps = 1_000_000;
/** Errors that the parts of a loop may run into: each costs as much as a hundred steps. */
const maxErrors = 2_000;
/** Texts up to this length cost no more than the step that looks at them. */
const freeText = 256;
/** A text that is searched for, or read as a number or an instant. Longer ones would multiply with the text searched. */
const maxNeedle = 1_024;
/** What comparing two objects or lists costs beside their members, in characters. */
const objectWeight = 20;
/** Wall for what the counted budgets do not see, such as slow machines. Far above any honest condition. */
const maxMs = 1_000;

/** What one evaluation of a condition may cost: characters looked at, and steps of loops. The same everywhere, whatever the machine. */
export class Budget {
  #characters = maxCharacters;
  #steps = maxSteps;
  #errors = maxErrors;
  readonly #deadline = performance.now() + maxMs;
  #failure: TooLargeToJudge | undefined;

  /** Charges for looking at a value as a whole, and returns it. */
  pay(value: unknown): unknown {
    if (typeof value === 'string') {
      if (value.length > freeText) this.read(value, 1);
    } else if (Array.isArray(value)) {
      if (value.length > maxItems) this.fail(`a list of ${value.length} items`);
      this.#charge(this.#weigh(value, 0));
    } else if (typeof value === 'object' && value !== null) {
      this.#charge(this.#weigh(value, 0));
    }
    return value;
  }

  /** Charges for reading a text, each character `weight` times. */
  read(text: string, weight: number): void {
    if (text.length > maxText) this.fail(`a text of ${text.length} characters`);
    this.#charge(text.length * weight);
  }

  /** Returns a text that is searched for, unless it is too long for that. */
  needle(value: unknown): unknown {
    if (typeof value === 'string' && value.length > maxNeedle) {
      this.fail(`the text searched for has more than ${maxNeedle} characters`);
    }
    return value;
  }

  /** Returns the list of a loop whose body has so many parts; each item that the loop takes is watched. */
  loop(list: unknown, parts: number): unknown {
    if (!Array.isArray(list)) return list;
    if (list.length > maxItems) this.fail(`a list of ${list.length} items`);
    this.#steps -= list.length * parts;
    if (this.#steps < 0) this.fail(`more than ${maxSteps} steps`);
    return list.length < 64 ? list : new Proxy(list, { get: (items, key) => this.#next(items, key) });
  }

  /** Counts an error that the expression ran into. */
  error(): void {
    this.#errors -= 1;
    if (this.#errors < 0) this.fail(`more than ${maxErrors} errors`);
  }

  fail(what: string): never {
    this.#failure ??= new TooLargeToJudge(what);
    throw this.#failure;
  }

  #next(items: readonly unknown[], key: string | symbol): unknown {
    // Inside of exists() and all() an error of the body does not end the loop; one of taking the item does.
    if (this.#failure) throw this.#failure;
    if (performance.now() > this.#deadline) this.fail(`more than ${maxMs} ms`);
    return Reflect.get(items, key);
  }

  #charge(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0) this.fail(`more than ${maxCharacters} characters`);
  }

  /** Comparing lists or objects looks at all that is in them; counting stops where the budget would. */
  #weigh(value: unknown, depth: number): number {
    if (typeof value === 'string') return value.length > freeText ? value.length : 1;
    if (typeof value !== 'object' || value === null || value instanceof TooLarge || depth > 64) return 1;
    const known = weights.get(value);
    if (known !== undefined) return known;
    let weight = objectWeight;
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      weight += this.#weigh(member, depth + 1);
      if (weight > this.#characters) break;
    }
    // A count that was broken off is above what was left then, and may be below what a later evaluation has.
    if (weight <= this.#characters) weights.set(value, weight);
    return weight;
  }
}

const weights = new WeakMap<object, number>();
