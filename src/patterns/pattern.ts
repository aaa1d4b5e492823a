import { Automaton, automatonCosts } from './automaton.ts';
import type { Meter } from './meter.ts';
import type { Program } from './program.ts';

/** Returns whether a text matches, paid for by the meter. Throws LimitExceeded where the meter has too little left. */
export type Matcher = (text: string, meter: Meter) => boolean;

/** Automata that have grown beyond this many entries of four bytes are left to the garbage collector between matches. */
const maxKeptEntries = 8 * 1024;

/** Returns the matcher of a program that is made when it is first used: most patterns of a rule file never are. */
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
