import { compileGlob } from './glob.ts';
import { GlobError } from './glob-error.ts';
import type { Matcher } from './pattern.ts';

/**
 * Returns the matcher of a glob as forges write them (no list, no leading `!`, `**` is any text), undefined for a broken
 * one.
 */
export function compileForgeGlob(pattern: string, separator: '/' | '' | '/.'): Matcher | undefined {
  try {
    return compileGlob(pattern.replace(/^!/, '\\!'), { separator, segments: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}
