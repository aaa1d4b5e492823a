import { compileGlob } from './glob.ts';
import { GlobError } from './glob-error.ts';
import type { Matcher } from './pattern.ts';

/**
 * Returns the matcher of a glob as forges write them (no list, no leading `!`, `**` is any text), undefined for a broken
 * one.
 */
export function compileForgeGlob(pattern: string, separator: '/' | '' | '/.'): Matcher | undefined {
  try {
    return compileGlob(pattern.replace(/^!/, '\\!'), { separator, segments: false, strict: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

/** Returns why a rule must not declare such a pattern on a forge: it is broken, or matches nothing that its author means. */
export function forgeGlobProblem(pattern: string, separator: '/' | '' | '/.'): string | undefined {
  try {
    compileGlob(pattern.replace(/^!(?!\()/, '\\!'), { separator, segments: false });
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return error.message;
    throw error;
  }
}
