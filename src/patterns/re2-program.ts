import { RE2JS } from 're2js';
import { opcode, type Program } from './program.ts';

/** Operations of the library's instructions, as its version 2 numbers them. */
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

/** The part of the library's instructions that we read. */
type Instruction = {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly matchRune: (rune: number) => boolean;
};

/** Returns the program of an RE2 pattern. Throws what the library throws where it is no such pattern. */
export function compileRe2Program(pattern: string): Program {
  const compiled = RE2JS.compile(pattern).re2();
  // The library declares its program as `any`; what we read of it is named above and held against the library by a test.
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
      throw new TypeError(`the RE2 library has an instruction ${op} that is not known here`);
  }
}
