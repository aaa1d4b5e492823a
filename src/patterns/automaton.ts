import type { Meter } from './meter.ts';
import { assertion, opcode, type Program } from './program.ts';

/** Costs of matching, in units of about one nanosecond (`scripts/calibrate.ts` measures them). */
export const automatonCosts = {
  /** First use of a pattern by a meter, including compilation if the pattern is a glob. */
  pattern: 4_000,
  /** Each instruction of a pattern, when a meter uses the pattern for the first time. */
  compiledInstruction: 50,
  /** Each text, in addition to its characters. */
  match: 60,
  /** Each character that is read. */
  character: 5,
  /** A character beyond U+00FF, if the pattern distinguishes between such characters. */
  farCharacter: 80,
  /** First use of a transition by a meter. */
  transition: 700,
  /** Each instruction that is followed to compute a transition. */
  instruction: 40,
  /** Each column of the table row that a transition may add. */
  column: 8,
} as const;

/** Transition table entry whose transition has not been computed yet. */
const unknown = 0;
const matched = -1;
const dead = -2;
/** Entry for the end of a text that matches the first of the recorded lists of patterns; further lists are below it. */
const firstList = -3;

/** Maximum number of transition table entries; a larger table is discarded. */
const maxEntries = 256 * 1024;
/** Maximum cost that a table may accumulate; a table that exceeds it is discarded. */
const maxCost = 1_000_000;

/**
 * Runs a program over texts by building a deterministic automaton lazily. Every transition is charged when a meter
 * first uses it, even if the transition is already cached from another meter, so the cost of a match depends only on
 * the pattern and the text. Matching takes linear time in the length of the text, and all work is charged.
 */
export class Automaton {
  readonly #program: Program;
  /** Whether matches can start only at the beginning of the text. */
  readonly #anchored: boolean;
  /**
   * Contexts that the program distinguishes. All other contexts are masked out, because they would only multiply the
   * states.
   */
  readonly #contexts: number;
  readonly #columns: Columns;
  /** Number of table columns; the last one is for the end of the text. */
  readonly #width: number;
  readonly #marks: Int32Array;
  readonly #closed: Int32Array;
  readonly #targets: Int32Array;
  #mark = 0;
  #meter: Meter | undefined;
  #states = new StateList();
  /** Transitions that the current meter has paid for. */
  #table = new Int32Array(0);
  /** All cached transitions, and the cost of each. */
  #known = new Int32Array(0);
  #costs = new Int32Array(0);
  #spent = 0;
  /** Cost of all transitions that the current meter has paid for, including discarded ones. */
  #paid = 0;
  /** The recorded lists of patterns that match a text, by their text form. */
  #lists: (readonly number[])[] = [];
  readonly #listNumbers = new Map<string, number>();
  /** Positions in the table of the transitions that the current meter has paid for. */
  #taken: number[] = [];

  constructor(program: Program) {
    this.#program = program;
    this.#columns = new Columns(program);
    this.#width = this.#columns.count + 1;
    this.#marks = new Int32Array(program.size);
    this.#closed = new Int32Array(program.size);
    this.#targets = new Int32Array(program.size);
    this.#contexts = contextsOf(program);
    this.#anchored = !this.#reaches(program.start, ~assertion.beginText);
    this.#drop();
  }

  /** Size of the cache, in entries of four bytes. */
  get entries(): number {
    return this.#states.length * this.#width * 3 + this.#states.instructions;
  }

  /** Cost of the transitions that the current meter has paid for. */
  get paid(): number {
    return this.#paid;
  }

  /**
   * Returns whether any part of the text matches. Throws LimitExceeded before the cost exceeds what the meter has left.
   */
  matches(text: string, meter: Meter): boolean {
    return this.#read(text, meter) === matched;
  }

  /**
   * Returns the numbers of the patterns that match the entire text, for a program of `buildProgramOfSeveral`; always the
   * same list for the same numbers.
   */
  matching(text: string, meter: Meter): readonly number[] {
    return this.#lists[firstList - this.#read(text, meter)] ?? noPatterns;
  }

  /** Returns the last table entry that the text leads to. */
  #read(text: string, meter: Meter): number {
    meter.require(automatonCosts.match + text.length * automatonCosts.character);
    meter.charge(automatonCosts.match);
    if (this.#meter !== meter) this.#startTurn(meter);
    const width = this.#width;
    const { latin, onlyFar } = this.#columns;
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
        if (onlyFar !== undefined) column = onlyFar;
        else {
          meter.charge(automatonCosts.farCharacter);
          const found = this.#columns.find(rune);
          if (found === undefined) {
            row = this.#dropAllBut(row);
            table = this.#table;
          }
          column = found ?? this.#columns.find(rune) ?? 0;
        }
      }
      let next = table[row + column] ?? unknown;
      if (next === unknown) {
        next = this.#advance(row, column, rune, meter);
        table = this.#table;
      }
      if (next < 0) {
        meter.charge(at * automatonCosts.character);
        return next;
      }
      row = next;
    }
    meter.charge(at * automatonCosts.character);
    let last = table[row + width - 1] ?? unknown;
    if (last === unknown) last = this.#advance(row, width - 1, endOfText, meter);
    return last;
  }

  /**
   * Starts the use by another meter: clears the transitions that the previous meter has paid for. That meter also paid
   * for this clearing.
   */
  #startTurn(meter: Meter): void {
    meter.charge(automatonCosts.pattern + this.#program.size * automatonCosts.compiledInstruction);
    this.#meter = meter;
    this.#paid = 0;
    if (this.entries > maxEntries / 4 || this.#columns.hasAssigned) {
      this.#drop();
      return;
    }
    for (const at of this.#taken) this.#table[at] = unknown;
    this.#taken = [];
    this.#spent = 0;
  }

  /** Drops all states but the initial one. */
  #drop(): void {
    this.#states = new StateList();
    this.#spent = 0;
    this.#taken = [];
    this.#lists = [];
    this.#listNumbers.clear();
    this.#columns.reset();
    this.#table = new Int32Array(this.#width * 8);
    this.#known = new Int32Array(this.#width * 8);
    this.#costs = new Int32Array(this.#width * 8);
    // The initial state gets row 1: an entry of 0 in the table means that the transition is unknown, so row 0 is not a
    // state.
    this.#mark += 1;
    this.#marks[this.#program.start] = this.#mark;
    this.#intern(Int32Array.of(this.#program.start), contextAtBegin & this.#contexts);
  }

  /** Returns the transition of a state, computed on first use, and charges the meter for it. */
  #advance(row: number, column: number, rune: number, meter: Meter): number {
    const at = row + column;
    // Also required for a cached transition: the position at which matching stops must not depend on earlier uses of
    // the cache.
    meter.require(this.#costOf(this.#program.size));
    let target = this.#known[at] ?? unknown;
    if (target === unknown) target = this.#work(row, column, rune);
    const cost = this.#costs[at] ?? 0;
    meter.charge(cost);
    this.#spent += cost;
    this.#paid += cost;
    const isFull = this.#spent > maxCost || this.#taken.length * this.#width * 3 > maxEntries;
    if (target > 0 && isFull) return this.#dropAllBut(target);
    this.#table[at] = target;
    this.#taken.push(at);
    return target;
  }

  /** Drops all states except the initial one and the given one; returns the new row of the given state. */
  #dropAllBut(row: number): number {
    const { kernel, context } = this.#stateAt(row);
    this.#drop();
    this.#mark += 1;
    for (const one of kernel) this.#marks[one] = this.#mark;
    return this.#intern(kernel, context);
  }

  #costOf(instructions: number): number {
    const { transition, instruction, column } = automatonCosts;
    return transition + instructions * instruction + this.#width * column;
  }

  /** Computes a transition and caches it together with its cost. */
  #work(row: number, column: number, rune: number): number {
    const { ops, next, accepts, start } = this.#program;
    const { kernel, context } = this.#stateAt(row);
    const reached = this.#close(kernel, flagsBetween(context, rune));
    const at = row + column;
    this.#costs[at] = this.#costOf(reached);
    const closed = this.#closed;
    const targets = this.#targets;
    const marks = this.#marks;
    let count = 0;
    this.#mark += 1;
    if (this.#program.isOfSeveral && rune === endOfText) return this.#remember(at, this.#listOf(reached));
    for (let place = 0; place < reached; place += 1) {
      const one = closed[place] ?? 0;
      if (ops[one] === opcode.match) return this.#remember(at, matched);
      if (ops[one] !== opcode.rune || rune === endOfText || !accepts(one, rune)) continue;
      const target = next[one] ?? 0;
      if (marks[target] === this.#mark) continue;
      marks[target] = this.#mark;
      targets[count] = target;
      count += 1;
    }
    if (rune === endOfText) return this.#remember(at, dead);
    if (!this.#anchored && marks[start] !== this.#mark) {
      marks[start] = this.#mark;
      targets[count] = start;
      count += 1;
    }
    if (count === 0) return this.#remember(at, dead);
    return this.#remember(at, this.#intern(targets.subarray(0, count), contextAfter(rune) & this.#contexts));
  }

  /** Returns the entry for the patterns whose match is among the instructions collected in `#closed`. */
  #listOf(reached: number): number {
    const { ops, other } = this.#program;
    const found = Array.from(this.#closed.subarray(0, reached))
      .filter((one) => ops[one] === opcode.match)
      .map((one) => other[one] ?? 0)
      .sort((one, two) => one - two);
    if (found.length === 0) return dead;
    const key = found.join();
    const known = this.#listNumbers.get(key);
    if (known !== undefined) return firstList - known;
    const number = this.#lists.push(found) - 1;
    this.#listNumbers.set(key, number);
    return firstList - number;
  }

  #remember(at: number, target: number): number {
    this.#known[at] = target;
    return target;
  }

  /**
   * Collects in `#closed` all instructions that can be reached from a set of instructions without reading a character;
   * returns their number.
   */
  #close(kernel: Int32Array, flags: number): number {
    const { ops, next, other } = this.#program;
    const marks = this.#marks;
    const closed = this.#closed;
    this.#mark += 1;
    const mark = this.#mark;
    let count = 0;
    for (let place = 0; place < kernel.length; place += 1) {
      const one = kernel[place] ?? 0;
      marks[one] = mark;
      closed[count] = one;
      count += 1;
    }
    // The list of collected instructions also serves as the work list.
    for (let place = 0; place < count; place += 1) {
      const one = closed[place] ?? 0;
      const op = ops[one];
      if (op !== opcode.fork && op !== opcode.assert) continue;
      if (op === opcode.assert && ((other[one] ?? 0) & ~flags) !== 0) continue;
      const first = next[one] ?? 0;
      if (marks[first] !== mark) {
        marks[first] = mark;
        closed[count] = first;
        count += 1;
      }
      const second = other[one] ?? 0;
      if (op === opcode.fork && marks[second] !== mark) {
        marks[second] = mark;
        closed[count] = second;
        count += 1;
      }
    }
    return count;
  }

  /**
   * Returns whether an instruction that reads a character, or a match instruction, can be reached if these assertions
   * hold.
   */
  #reaches(place: number, flags: number): boolean {
    const { ops } = this.#program;
    const count = this.#close(Int32Array.of(place), flags);
    return this.#closed
      .subarray(0, count)
      .some((one) => ops[one] === opcode.rune || ops[one] === opcode.match);
  }

  #stateAt(row: number): State {
    return this.#states.at(row / this.#width);
  }

  /** Returns the row of the state that has exactly these instructions. All of them must have the current mark. */
  #intern(kernel: Int32Array, context: number): number {
    const row = this.#states.add(kernel, context, this.#marks, this.#mark) * this.#width;
    if (row + this.#width > this.#table.length) this.#grow();
    return row;
  }

  #grow(): void {
    this.#table = doubled(this.#table);
    this.#known = doubled(this.#known);
    this.#costs = doubled(this.#costs);
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

/** Pseudo code point that stands for the end of the text. */
const endOfText = -1;
const newline = 10;

/** Properties of the position before a character that assertions depend on. */
const context = { begin: 1, newline: 2, word: 4 } as const;
/** The context at the beginning of a text. */
const contextAtBegin = context.begin | context.newline;

/**
 * Returns the contexts that the assertions of a program depend on. Including other contexts would only multiply the
 * states.
 */
function contextsOf({ ops, other }: Program): number {
  let contexts = 0;
  for (const [place, flags] of other.entries()) {
    if (ops[place] !== opcode.assert) continue;
    if ((flags & assertion.beginText) !== 0) contexts |= context.begin;
    if ((flags & assertion.beginLine) !== 0) contexts |= context.newline;
    if ((flags & (assertion.wordBoundary | assertion.noWordBoundary)) !== 0) contexts |= context.word;
  }
  return contexts;
}

/** Returns the context after a character. */
function contextAfter(rune: number): number {
  if (rune === newline) return context.newline;
  return isWord(rune) ? context.word : 0;
}

/** Returns the assertions that hold between a context and the next character. */
function flagsBetween(before: number, rune: number): number {
  let flags = 0;
  if ((before & context.begin) !== 0) flags |= assertion.beginText;
  if ((before & context.newline) !== 0) flags |= assertion.beginLine;
  if (rune === endOfText) flags |= assertion.endText | assertion.endLine;
  if (rune === newline) flags |= assertion.endLine;
  const atBoundary = ((before & context.word) !== 0) !== (rune !== endOfText && isWord(rune));
  return flags | (atBoundary ? assertion.wordBoundary : assertion.noWordBoundary);
}

function isWord(rune: number): boolean {
  return (
    (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95
  );
}

/** Maximum number of columns for classes of code points beyond U+00FF. */
const maxFarColumns = 64;

/**
 * Maps code points to columns of a transition table. A program distinguishes classes of code points: a Unicode group
 * has about a thousand classes, but a text contains only a few of them. Classes up to U+00FF have fixed columns; a
 * class beyond U+00FF gets a column when a text contains one of its characters.
 */
class Columns {
  /** Number of columns, excluding the one for the end of the text. */
  readonly count: number;
  /** Columns of the code points up to U+00FF. */
  readonly latin = new Uint16Array(256);
  /** Column shared by all code points beyond U+00FF; undefined if the program distinguishes between them. */
  readonly onlyFar: number | undefined;
  readonly #bounds: Int32Array;
  readonly #near: number;
  /**
   * Columns of the classes beyond U+00FF, with 0 for a class that has no column; undefined if the number of each class
   * is also its column.
   */
  readonly #far: Uint16Array | undefined;
  #assigned = 0;

  constructor({ bounds }: Program) {
    this.#bounds = bounds;
    for (let rune = 0; rune < 256; rune += 1) this.latin[rune] = this.#classOf(rune);
    this.#near = this.#classOf(255) + 1;
    const far = bounds.length + 1 - this.#near;
    this.onlyFar = far === 0 ? this.#near - 1 : far === 1 && bounds.at(-1) === 256 ? this.#near : undefined;
    this.#far = far > maxFarColumns ? new Uint16Array(far) : undefined;
    this.count = this.#near + Math.min(far, maxFarColumns);
  }

  /** Whether a class has been assigned a column since creation or the last reset. */
  get hasAssigned(): boolean {
    return this.#assigned > 0;
  }

  /** Returns the column of a code point beyond U+00FF; undefined if its class has no column and no column is free. */
  find(rune: number): number | undefined {
    const found = this.#classOf(rune);
    // The last class of the first 256 code points may extend beyond U+00FF.
    if (this.#far === undefined || found < this.#near) return found;
    const place = found - this.#near;
    const known = this.#far[place] ?? 0;
    if (known !== 0) return known;
    if (this.#assigned === maxFarColumns) return undefined;
    const column = this.#near + this.#assigned;
    this.#far[place] = column;
    this.#assigned += 1;
    return column;
  }

  /** Releases the columns of all classes beyond U+00FF. */
  reset(): void {
    if (this.#assigned === 0) return;
    this.#far?.fill(0);
    this.#assigned = 0;
  }

  /** Returns the class of a code point: the number of bounds less than or equal to it. */
  #classOf(rune: number): number {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] ?? 0) <= rune) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** State of an automaton: its instructions, and the context before them. */
type State = { readonly kernel: Int32Array; readonly context: number };

const noPatterns: readonly number[] = [];
const none: State = { kernel: new Int32Array(0), context: 0 };

/** The distinct states of an automaton, numbered from 1. */
class StateList {
  readonly #states: State[] = [none];
  readonly #byHash = new Map<number, number[]>();
  #instructions = 0;

  /** Number of states, including the reserved state 0. */
  get length(): number {
    return this.#states.length;
  }

  /** Total number of instructions in all states. */
  get instructions(): number {
    return this.#instructions;
  }

  at(number: number): State {
    return this.#states[number] ?? none;
  }

  /**
   * Returns the number of the state with these instructions, in any order; adds the state if it is missing. In `marks`,
   * exactly these instructions have the value `mark`.
   */
  add(kernel: Int32Array, context: number, marks: Int32Array, mark: number): number {
    let hash = context;
    for (let place = 0; place < kernel.length; place += 1) {
      hash = (hash + Math.imul((kernel[place] ?? 0) + 1, 0x9e3779b1)) | 0;
    }
    const alike = this.#byHash.get(hash);
    for (const number of alike ?? []) {
      const state = this.at(number);
      const isSame = state.context === context && state.kernel.length === kernel.length;
      if (isSame && areMarked(state.kernel, marks, mark)) return number;
    }
    const number = this.#states.push({ kernel: kernel.slice(), context }) - 1;
    if (alike) alike.push(number);
    else this.#byHash.set(hash, [number]);
    this.#instructions += kernel.length;
    return number;
  }
}

function areMarked(kernel: Int32Array, marks: Int32Array, mark: number): boolean {
  for (let place = 0; place < kernel.length; place += 1) {
    if (marks[kernel[place] ?? 0] !== mark) return false;
  }
  return true;
}

/** Returns whether a text matches, charged to the meter. Throws LimitExceeded if the meter has too few units left. */
export type Matcher = (text: string, meter: Meter) => boolean;

/**
 * Maximum size of an automaton that is kept, in entries of four bytes. A larger automaton may be garbage collected
 * between matches.
 */
const maxKeptEntries = 8 * 1024;

/** Returns a matcher that compiles its program on first use, because most patterns of a rule file are never used. */
export function createMatcher(compile: () => Program): Matcher {
  let program: Program | undefined;
  let kept: Automaton | undefined;
  let large: WeakRef<Automaton> | undefined;
  return (text, meter) => {
    let automaton = kept ?? large?.deref();
    if (automaton === undefined) {
      meter.require(automatonCosts.pattern);
      program ??= compile();
      automaton = new Automaton(program);
    }
    const matches = automaton.matches(text, meter);
    const isSmall = automaton.entries <= maxKeptEntries;
    if (isSmall !== (kept === automaton)) {
      kept = isSmall ? automaton : undefined;
      large = isSmall ? undefined : new WeakRef(automaton);
    }
    return matches;
  };
}
