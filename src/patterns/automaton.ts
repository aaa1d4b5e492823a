import type { Meter } from './meter.ts';
import { assertion, opcode, type Program } from './program.ts';

/** Units, measured by scripts/calibrate.ts. */
const perCharacter = 3;
const perTransition = 300;
const perInstruction = 20;

/** Contexts of a state: what its next assertion needs to know of the character before. */
const afterBegin = 1;
const afterNewline = 2;
const afterWord = 4;

/** Entries of the transition table that are no states. */
const unknown = 0;
const matched = -1;
const dead = -2;

const endOfText = -1;
const newline = 10;

/** A table of transitions larger than this is dropped. */
const maxEntries = 256 * 1024;
/** A table that has cost more than this since it was started is dropped. */
const maxCost = 1_000_000;

/**
 * Runs a program over texts by building a deterministic automaton as far as the texts need it. Every transition is
 * charged when a meter first takes it, whether it is known from another meter or not: what a match costs depends on the
 * pattern and the text alone. Time is linear in the text, and nothing is done that was not paid for.
 */
export class Automaton {
  readonly #program: Program;
  /** Whether nothing matches that does not begin at the beginning of the text. */
  readonly #anchored: boolean;
  /** The contexts that the program asks for; others would only multiply the states. */
  readonly #contexts: number;
  /** Classes of code points, and one more for the end of the text. */
  readonly #width: number;
  readonly #latin = new Uint16Array(256);
  readonly #marks: Int32Array;
  readonly #stack: Int32Array;
  #mark = 0;
  #meter: Meter | undefined;
  #states: State[] = [];
  #byHash = new Map<number, number[]>();
  /** Transitions that the current meter has paid for. */
  #table = new Int32Array(0);
  /** All transitions that are known, and what each costs. */
  #known = new Int32Array(0);
  #costs = new Int32Array(0);
  #instructions = 0;
  #spent = 0;
  #taken = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#width = program.bounds.length + 2;
    this.#marks = new Int32Array(program.size);
    this.#stack = new Int32Array(program.size + 1);
    for (let rune = 0; rune < 256; rune += 1) this.#latin[rune] = this.#search(rune);
    this.#contexts = contextsOf(program);
    this.#anchored = !this.#reaches(program.start, ~assertion.beginText);
    this.#drop();
  }

  /** How much is remembered, in entries of four bytes. */
  get entries(): number {
    return this.#states.length * this.#width * 3 + this.#instructions;
  }

  /** Says whether some part of the text matches. Throws LimitExceeded before it costs more than the meter has. */
  matches(text: string, meter: Meter): boolean {
    meter.require(text.length * perCharacter);
    if (this.#meter !== meter) this.#startTurn(meter);
    const width = this.#width;
    const latin = this.#latin;
    let table = this.#table;
    let row = width;
    let at = 0;
    while (at < text.length) {
      let rune = text.charCodeAt(at);
      at += 1;
      let column: number;
      if (rune < 256) column = latin[rune] ?? 0;
      else {
        if (rune >= 0xd800 && rune < 0xdc00) {
          rune = text.codePointAt(at - 1) ?? rune;
          if (rune > 0xffff) at += 1;
        }
        column = this.#search(rune);
      }
      let next = table[row + column] ?? unknown;
      if (next === unknown) {
        next = this.#advance(row, column, rune, meter);
        table = this.#table;
      }
      if (next < 0) {
        meter.charge(at * perCharacter);
        return next === matched;
      }
      row = next;
    }
    meter.charge(at * perCharacter);
    let last = table[row + width - 1] ?? unknown;
    if (last === unknown) last = this.#advance(row, width - 1, endOfText, meter);
    return last === matched;
  }

  /** Returns the class of a code point: how many bounds are at or below it. */
  #search(rune: number): number {
    const { bounds } = this.#program;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] ?? 0) <= rune) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #startTurn(meter: Meter): void {
    this.#meter = meter;
    this.#spent = 0;
    this.#taken = 0;
    if (this.entries > maxEntries / 4) this.#drop();
    else this.#table.fill(unknown);
  }

  /** Forgets all states but that at the beginning of a text. */
  #drop(): void {
    this.#states = [];
    this.#byHash = new Map();
    this.#instructions = 0;
    this.#spent = 0;
    this.#taken = 0;
    this.#table = new Int32Array(this.#width * 8);
    this.#known = new Int32Array(this.#width * 8);
    this.#costs = new Int32Array(this.#width * 8);
    // The first row is no state: an entry of 0 in the table means that nothing is known.
    this.#states.push(none);
    this.#intern(Int32Array.of(this.#program.start), (afterBegin | afterNewline) & this.#contexts);
  }

  /** Returns the transition of a state, paid for; it is worked out where nobody did before. */
  #advance(row: number, column: number, rune: number, meter: Meter): number {
    const at = row + column;
    let target = this.#known[at] ?? unknown;
    if (target === unknown) {
      meter.require(perTransition + perInstruction * this.#program.size);
      target = this.#work(row, column, rune);
    }
    const cost = this.#costs[at] ?? 0;
    meter.charge(cost);
    this.#spent += cost;
    this.#taken += this.#width * 3;
    if (target > 0 && (this.#spent > maxCost || this.#taken > maxEntries)) {
      const { kernel, context } = this.#stateAt(target);
      this.#drop();
      return this.#intern(kernel, context);
    }
    this.#table[at] = target;
    return target;
  }

  /** Works out a transition and remembers it with what it costs. */
  #work(row: number, column: number, rune: number): number {
    const { ops, next, accepts, start } = this.#program;
    const { kernel, context } = this.#stateAt(row);
    const closed = this.#close(kernel, flagsBetween(context, rune));
    const at = row + column;
    this.#costs[at] = perTransition + perInstruction * closed.length;
    const targets: number[] = [];
    this.#mark += 1;
    for (const place of closed) {
      if (ops[place] === opcode.match) return this.#remember(at, matched);
      if (rune === endOfText || ops[place] !== opcode.rune || !accepts(place, rune)) continue;
      const target = next[place] ?? 0;
      if (this.#marks[target] === this.#mark) continue;
      this.#marks[target] = this.#mark;
      targets.push(target);
    }
    if (rune === endOfText) return this.#remember(at, dead);
    if (!this.#anchored && this.#marks[start] !== this.#mark) targets.push(start);
    if (targets.length === 0) return this.#remember(at, dead);
    return this.#remember(
      at,
      this.#intern(Int32Array.from(targets).sort(), contextAfter(rune) & this.#contexts),
    );
  }

  #remember(at: number, target: number): number {
    this.#known[at] = target;
    return target;
  }

  /** Returns the instructions that are reached from a set without reading a character. */
  #close(kernel: Int32Array, flags: number): readonly number[] {
    const { ops, next, other } = this.#program;
    const marks = this.#marks;
    this.#mark += 1;
    const closed: number[] = [];
    let depth = 0;
    const stack = this.#stack;
    const push = (place: number): void => {
      if (marks[place] === this.#mark) return;
      marks[place] = this.#mark;
      stack[depth] = place;
      depth += 1;
    };
    for (const place of kernel) push(place);
    while (depth > 0) {
      depth -= 1;
      const place = stack[depth] ?? 0;
      closed.push(place);
      if (ops[place] === opcode.fork) {
        push(next[place] ?? 0);
        push(other[place] ?? 0);
      } else if (ops[place] === opcode.assert && ((other[place] ?? 0) & ~flags) === 0) {
        push(next[place] ?? 0);
      }
    }
    return closed;
  }

  /** Says whether something that reads a character, or a match, is reached where these assertions hold. */
  #reaches(place: number, flags: number): boolean {
    const { ops } = this.#program;
    return this.#close(Int32Array.of(place), flags).some(
      (one) => ops[one] === opcode.rune || ops[one] === opcode.match,
    );
  }

  #stateAt(row: number): State {
    return this.#states[row / this.#width] ?? none;
  }

  /** Returns the row of the state with these instructions, which is made where there is none. */
  #intern(kernel: Int32Array, context: number): number {
    let hash = context;
    for (const place of kernel) hash = (Math.imul(hash, 31) + place) | 0;
    const known = this.#byHash.get(hash) ?? [];
    for (const row of known) {
      const state = this.#stateAt(row);
      if (state.context === context && sameNumbers(state.kernel, kernel)) return row;
    }
    const row = this.#states.length * this.#width;
    this.#states.push({ kernel, context });
    this.#byHash.set(hash, [...known, row]);
    this.#instructions += kernel.length;
    if (row + this.#width > this.#table.length) this.#grow();
    return row;
  }

  #grow(): void {
    this.#table = doubled(this.#table);
    this.#known = doubled(this.#known);
    this.#costs = doubled(this.#costs);
  }
}

type State = { readonly kernel: Int32Array; readonly context: number };
const none: State = { kernel: new Int32Array(0), context: 0 };

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

function sameNumbers(left: Int32Array, right: Int32Array): boolean {
  return left.length === right.length && left.every((number, place) => number === right[place]);
}

function isWord(rune: number): boolean {
  return (
    (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95
  );
}

function contextsOf({ ops, other }: Program): number {
  let contexts = 0;
  for (const [place, flags] of other.entries()) {
    if (ops[place] !== opcode.assert) continue;
    if ((flags & assertion.beginText) !== 0) contexts |= afterBegin;
    if ((flags & assertion.beginLine) !== 0) contexts |= afterNewline;
    if ((flags & (assertion.wordBoundary | assertion.noWordBoundary)) !== 0) contexts |= afterWord;
  }
  return contexts;
}

function contextAfter(rune: number): number {
  if (rune === newline) return afterNewline;
  return isWord(rune) ? afterWord : 0;
}

/** Returns the assertions that hold between what a state has read and the next character. */
function flagsBetween(context: number, rune: number): number {
  let flags = 0;
  if ((context & afterBegin) !== 0) flags |= assertion.beginText;
  if ((context & afterNewline) !== 0) flags |= assertion.beginLine;
  if (rune === endOfText) flags |= assertion.endText | assertion.endLine;
  if (rune === newline) flags |= assertion.endLine;
  const atBoundary = ((context & afterWord) !== 0) !== (rune !== endOfText && isWord(rune));
  return flags | (atBoundary ? assertion.wordBoundary : assertion.noWordBoundary);
}
