import { compileGlob, GlobError } from '../patterns/glob.ts';
import { escapeGlob } from './names.ts';

/** A glob of minimatch as a glob of the language; or why it never matches a path; or why it cannot be converted. */
export type ConvertedGlob =
  | { readonly glob: string; readonly isNegated?: true }
  | { readonly never: string }
  | { readonly problem: string };

/**
 * Converts a glob of minimatch, as JavaScript bots use it for paths of files (with `dot: true`). In minimatch, a `**`
 * inside of a segment is `*`, `x/**\/*` is everything below `x`, and a pattern that ends in `/` matches no file.
 */
export function convertMinimatch(pattern: string): ConvertedGlob {
  if (pattern.startsWith('#'))
    return { never: 'minimatch takes a pattern that starts with `#` as a comment' };
  const [, marks = '', body = ''] = /^(!*)(.*)$/s.exec(pattern) ?? [];
  if (body === '') return { never: 'the pattern is empty' };
  if (body.startsWith('/')) return { never: 'paths of changed files do not begin with `/`' };
  if (body.endsWith('/')) return { never: 'no file has a path that ends with `/`' };
  if (/\[\[:/.test(body)) return { problem: 'classes such as `[[:alpha:]]` have no counterpart' };
  if (/\{[^{}]*\.\.[^{}]*\}/.test(body)) return { problem: 'a range in braces has no counterpart' };
  const expanded = body.replace(/@\(([^()]*)\)/g, (_, inner: string) => `{${inner.replaceAll('|', ',')}}`);
  if (/[?*+@!]\(/.test(expanded)) return { problem: 'the group of another shell has no counterpart' };
  const glob = expanded
    .split('/')
    .map((segment) => (segment === '**' ? segment : segment.replace(/\*{2,}/g, '*').replace(/\[\^/g, '[!')))
    .join('/')
    .replace(/(^|\/)\*\*(\/\*\*)+(?=\/|$)/g, '$1**')
    .replace(/(^|\/)\*\*\/\*$/, '$1**');
  const single = glob.replace(/\{([^{},]*)\}/g, (_, inner: string) => `\\{${inner}\\}`);
  try {
    compileGlob(single);
  } catch (error) {
    if (error instanceof GlobError) return { problem: error.message };
    throw error;
  }
  return marks.length % 2 === 1 ? { glob: single, isNegated: true } : { glob: single };
}

/** Returns a glob for one path, or for everything below a folder. */
export function pathGlob(path: string): string {
  return escapeGlob(path);
}
