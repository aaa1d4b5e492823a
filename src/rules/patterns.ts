import { RE2JS } from 're2js';
import { messageOf } from '../errors.ts';
import { createGlob } from '../patterns/glob.ts';
import { GlobError } from '../patterns/glob-error.ts';

/** A compiled literal pattern of an expression. `weight` is what one character of text costs, at least 1. */
export type CompiledPattern = { readonly test: (text: string) => boolean; readonly weight: number };

const maxPatternLength = 200;
/** Instructions of a compiled pattern that one character of the budget pays for: long programs run slower per character. */
const instructionsPerCharacter = 100;

/** Returns the RE2 pattern compiled, or why it cannot be. */
export function compilePattern(pattern: string): CompiledPattern | { readonly reason: string } {
  if (pattern.length > maxPatternLength)
    return { reason: `the pattern is longer than ${maxPatternLength} characters` };
  try {
    const engine = RE2JS.compile(pattern);
    return {
      test: (text) => engine.test(text),
      weight: Math.max(1, Math.ceil(engine.programSize() / instructionsPerCharacter)),
    };
  } catch (error) {
    return { reason: `the pattern is not RE2: ${messageOf(error)}` };
  }
}

/** Returns the glob, or the list of globs, compiled, or why it cannot be. */
export function compileGlob(globs: readonly string[]): CompiledPattern | { readonly reason: string } {
  try {
    return { test: createGlob(globs), weight: globs.length };
  } catch (error) {
    if (error instanceof GlobError) return { reason: error.message };
    throw error;
  }
}
