import { messageOf } from '../errors.ts';
import { createMatcher, type Matcher } from './pattern.ts';
import { compileRe2Program } from './re2-program.ts';
import { estimateRe2Size } from './re2-size.ts';

const maxLength = 200;
/** Instructions of a pattern once its counted repetitions are written out; compiling so many takes a few milliseconds. */
const maxSize = 2_500;
/** The same for all patterns that are compiled together, such as those of one rule file. */
const maxTotalSize = 50_000;

/** A pattern compiled, or why it cannot be, to continue a sentence about it. */
export type CompiledRe2 = { readonly matches: Matcher } | { readonly reason: string };

/** Compiles the RE2 patterns of one file: each once, and no more of them together than can be compiled quickly. */
export class Re2Compiler {
  readonly #compiled = new Map<string, CompiledRe2>();
  #left = maxTotalSize;

  compile(pattern: string): CompiledRe2 {
    const before = this.#compiled.get(pattern);
    if (before) return before;
    const compiled = this.#compile(pattern);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }

  #compile(pattern: string): CompiledRe2 {
    if (pattern.length > maxLength) return { reason: `the pattern is longer than ${maxLength} characters` };
    const size = estimateRe2Size(pattern);
    if (size > maxSize) {
      const written = `with its repetitions written out the pattern has about ${size} steps`;
      return { reason: `${written}, more than ${maxSize}; repeat less, lengths can be asked with size()` };
    }
    this.#left -= size;
    if (this.#left < 0) {
      const total = `the patterns of this file have more than ${maxTotalSize} steps together`;
      return {
        reason: `${total}, with their repetitions written out; repeat less, or make it several files`,
      };
    }
    try {
      const program = compileRe2Program(pattern);
      return { matches: createMatcher(() => program) };
    } catch (error) {
      return { reason: `the pattern is not RE2: ${messageOf(error)}` };
    }
  }
}
