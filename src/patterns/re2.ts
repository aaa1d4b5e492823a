import { messageOf } from '../platform/errors.ts';
import { createMatcher, type Matcher } from './pattern.ts';
import { compileRe2Program } from './re2-program.ts';
import { estimateRe2Size } from './re2-size.ts';

export const re2Limits = {
  /** Characters of a pattern. */
  length: 200,
  /** Instructions of a pattern once its counted repetitions are written out; compiling so many takes milliseconds. */
  size: 2_500,
  /** The same for all patterns that are compiled together, such as those of one rule file. */
  totalSize: 50_000,
} as const;

/** A pattern compiled, or why it cannot be, to continue a sentence about it. */
type CompiledRe2 =
  | { readonly matches: Matcher }
  /** `isSyntax`: it is no RE2 pattern, rather than a too large one. */
  | { readonly reason: string; readonly isSyntax?: true };

/** Compiles the RE2 patterns of one file: each once, and no more of them together than can be compiled quickly. */
export class Re2Compiler {
  readonly #compiled = new Map<string, CompiledRe2>();
  #left = re2Limits.totalSize;

  compile(pattern: string): CompiledRe2 {
    const before = this.#compiled.get(pattern);
    if (before) return before;
    const compiled = this.#compile(pattern);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }

  #compile(pattern: string): CompiledRe2 {
    if (pattern.length > re2Limits.length)
      return { reason: `the pattern is longer than ${re2Limits.length} characters` };
    const size = estimateRe2Size(pattern);
    if (size > re2Limits.size) {
      const written = `with its repetitions written out the pattern has about ${size} steps`;
      return {
        reason: `${written}, more than ${re2Limits.size}; repeat less, lengths can be asked with size()`,
      };
    }
    this.#left -= size;
    if (this.#left < 0) {
      const total = `the patterns of this file have more than ${re2Limits.totalSize} steps together`;
      return {
        reason: `${total}, with their repetitions written out; repeat less, or make it several files`,
      };
    }
    try {
      const program = compileRe2Program(pattern);
      return { matches: createMatcher(() => program) };
    } catch (error) {
      return { reason: `the pattern is not RE2: ${messageOf(error)}`, isSyntax: true };
    }
  }
}
