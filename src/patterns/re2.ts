import { RE2JS } from 're2js';
import { messageOf } from '../platform/errors.ts';
import { createMatcher, type Matcher } from './automaton.ts';
import { opcode, type Program } from './program.ts';

export const re2Limits = {
  /** Maximum length of a pattern, in characters. */
  length: 200,
  /**
   * Maximum number of instructions of a pattern, with counted repetitions expanded; compiling this many takes
   * milliseconds.
   */
  size: 2_500,
  /** Maximum number of instructions of all patterns that are compiled together, for example those of one rule file. */
  totalSize: 50_000,
} as const;

/** A compiled pattern, or the reason why it cannot be compiled, phrased to continue a sentence about the pattern. */
type CompiledRe2 =
  | { readonly matches: Matcher }
  /** `isSyntax`: the pattern is not valid RE2 syntax; if absent, the pattern is too large. */
  | { readonly reason: string; readonly isSyntax?: true };

/**
 * Compiles the RE2 patterns of one file. Each pattern is compiled only once, and the total size is limited so that
 * compilation is fast.
 */
export class Re2Compiler {
  readonly #compiled = new Map<string, CompiledRe2>();
  #left = re2Limits.totalSize;
  readonly #length: number;

  /** `length`: maximum length of a pattern, in characters. */
  constructor({ length = re2Limits.length }: { readonly length?: number } = {}) {
    this.#length = length;
  }

  compile(pattern: string): CompiledRe2 {
    const before = this.#compiled.get(pattern);
    if (before) return before;
    const compiled = this.#compile(pattern);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }

  #compile(pattern: string): CompiledRe2 {
    if (pattern.length > this.#length)
      return { reason: `the pattern is longer than ${this.#length} characters` };
    const parts = splitLookahead(pattern);
    if (parts === undefined) return this.#compileOne(pattern);
    const [not, rest] = [this.#compileOne(parts.not), this.#compileOne(parts.rest)];
    if ('reason' in not) return not;
    if ('reason' in rest) return rest;
    return { matches: (text, meter) => !not.matches(text, meter) && rest.matches(text, meter) };
  }

  #compileOne(pattern: string): CompiledRe2 {
    const size = estimateRe2Size(pattern);
    if (size > re2Limits.size) {
      const written = `with repetitions expanded, the pattern has about ${size} steps`;
      return {
        reason: `${written}, more than ${re2Limits.size}; use fewer repetitions, or check lengths with size()`,
      };
    }
    this.#left -= size;
    if (this.#left < 0) {
      const total = `the patterns of this file have more than ${re2Limits.totalSize} steps in total`;
      return {
        reason: `${total}, with repetitions expanded; use fewer repetitions, or split the file`,
      };
    }
    try {
      const program = compileRe2Program(pattern);
      return { matches: createMatcher(() => program) };
    } catch (error) {
      const isLookahead = pattern.includes('(?!');
      const hint = isLookahead ? '; a negative look-ahead stands at the start: ^(?!X)Y' : '';
      return { reason: `the pattern is not RE2: ${messageOf(error)}${hint}`, isSyntax: true };
    }
  }
}

/**
 * Returns the two patterns of an anchored `^(?!X)Y`, which RE2 does not have: it matches a text that `not` does not match
 * and `rest` matches. Undefined for other patterns, also if Y has alternatives, to which the anchor would not belong.
 */
export function splitLookahead(pattern: string): { readonly not: string; readonly rest: string } | undefined {
  const [start, flags = ''] = /^(\(\?[is]+\))?\^\(\?!/.exec(pattern) ?? [];
  if (start === undefined || pattern.includes('\\Q')) return undefined;
  let depth = 1;
  let end: number | undefined;
  // Escapes and classes hide parentheses and bars.
  for (const { 0: sign, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|[()|]/gsu)) {
    if (index < start.length) continue;
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth === 0 && end === undefined) end = index;
    else if (depth === 0 && end !== undefined && sign === '|') return undefined;
    if (end !== undefined && sign === ')' && depth < 0) return undefined;
  }
  if (end === undefined) return undefined;
  const [not, rest] = [pattern.slice(start.length, end), pattern.slice(end + 1)];
  return { not: `${flags}^(?:${not})`, rest: `${flags}^(?:${rest})` };
}

/** Opcodes of the instructions in version 2 of the library. */
const operations = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  firstRune: 8,
  lastRune: 11,
} as const;

/** The fields of the library's instructions that are used here. */
type Instruction = {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly matchRune: (rune: number) => boolean;
};

/** Returns the program of an RE2 pattern. For an invalid pattern, throws the library's error. */
export function compileRe2Program(pattern: string): Program {
  const compiled = RE2JS.compile(pattern).re2();
  // The library declares its program as `any`. The fields used here are declared above, and a test checks them against
  // the library.
  const instructions: readonly Instruction[] = compiled.prog.inst;
  const skip = (place: number): number => {
    let at = place;
    for (;;) {
      const one = instructions[at];
      if (one?.op !== operations.nop && one?.op !== operations.capture) return at;
      at = one.out;
    }
  };
  const size = instructions.length;
  const ops = new Uint8Array(size);
  const next = new Int32Array(size);
  const other = new Int32Array(size);
  for (const [place, { op, out, arg }] of instructions.entries()) {
    ops[place] = opcodeOf(op);
    next[place] = skip(out);
    other[place] = ops[place] === opcode.fork ? skip(arg) : arg;
  }
  return {
    size,
    start: skip(compiled.prog.start),
    ops,
    next,
    other,
    accepts: (place, rune) => instructions[place]?.matchRune(rune) ?? false,
    bounds: compiled.dfa.classBounds,
  };
}

function opcodeOf(op: number): number {
  switch (op) {
    case operations.alternative:
    case operations.alternativeMatch:
      return opcode.fork;
    case operations.emptyWidth:
      return opcode.assert;
    case operations.match:
      return opcode.match;
    case operations.capture:
    case operations.nop:
    case operations.fail:
      return opcode.fail;
    default:
      if (op >= operations.firstRune && op <= operations.lastRune) return opcode.rune;
      throw new TypeError(`the RE2 library has an unknown instruction ${op}`);
  }
}

/** Size counted for one Unicode group (`\pL`), because it has hundreds of ranges that the compiler copies. */
const groupSize = 20;

/**
 * Returns approximately how many instructions an RE2 pattern has with counted repetitions expanded, without compiling
 * it: `(a{30}){30}` has 900 and compiles in milliseconds; a pattern a hundred times as large takes a second. The result
 * is an upper bound for a valid pattern, and meaningless for an invalid one.
 */
export function estimateRe2Size(pattern: string): number {
  return new SizeReader(pattern).read();
}

class SizeReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): number {
    // Groups that are still open, each with the total size of its parsed content.
    const open: number[] = [0];
    let last = 0;
    const add = (size: number): void => {
      open.push((open.pop() ?? 0) + last);
      last = size;
    };
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      const repeat = sign === '{' ? this.#repetition() : undefined;
      if (repeat !== undefined) last = repeat(last);
      else if (sign === '(') {
        add(0);
        open.push(0);
        this.#at += 1;
      } else if (sign === ')' && open.length > 1) {
        const inner = (open.pop() ?? 0) + last;
        last = inner + 3;
        this.#at += 1;
      } else if (sign === '*' || sign === '+' || sign === '?' || sign === '|') {
        // A loop around a node that may be empty has two instructions, and so does an alternative with an empty side.
        last += sign === '*' || sign === '|' ? 2 : 1;
        this.#at += 1;
      } else add(this.#atom());
    }
    // Every program has an instruction that fails, an instruction that matches and, if the program is otherwise empty,
    // an instruction that does nothing.
    return open.reduce((sum, size) => sum + size, last + 3);
  }

  /** Parses `{n}`, `{n,}` or `{n,m}`; undefined if the brace is a literal. */
  #repetition(): ((size: number) => number) | undefined {
    const found = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#pattern.slice(this.#at, this.#at + 12));
    if (!found) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === '') return (size) => size * Math.max(1, least);
    // `{n,}` counts as n repetitions and a loop; for each optional repetition, there is an instruction that skips it.
    const most = found[3] === '' ? least + 1 : Number(found[3]);
    return (size) => size * Math.max(1, least) + (size + 1) * Math.max(0, most - least);
  }

  #atom(): number {
    const sign = this.#pattern[this.#at];
    if (sign === '\\') return this.#escape();
    if (sign === '[') return this.#class();
    this.#at += 1;
    return 1;
  }

  #escape(): number {
    const name = this.#pattern[this.#at + 1];
    this.#at += 2;
    return name === 'p' || name === 'P' ? groupSize : 1;
  }

  #class(): number {
    const begin = this.#at;
    this.#at += 1;
    if (this.#pattern[this.#at] === '^') this.#at += 1;
    // A closing bracket is a literal in the first position, after a backslash, and in [:word:].
    if (this.#pattern[this.#at] === ']') this.#at += 1;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']') {
      const posix = /^\[:\^?\w+:\]/.exec(this.#pattern.slice(this.#at, this.#at + 20));
      this.#at += posix ? posix[0].length : this.#pattern[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += 1;
    const groups = this.#pattern.slice(begin, this.#at).match(/\\[pP]/g)?.length ?? 0;
    return 1 + groups * groupSize;
  }
}
