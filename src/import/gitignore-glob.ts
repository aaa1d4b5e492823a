import { compileGlob, GlobError } from '../patterns/glob.ts';

/** Globs of the language for paths in small letters: one of them matches. Without globs, no path does. */
export type ConvertedIgnores = { readonly globs: readonly string[] } | { readonly problem: string };

/**
 * Converts patterns of `.gitignore`, as the library `ignore` (5 to 7) tests paths of changed files against them: a
 * pattern without a slash counts in every folder, what is below a matching folder matches, and the case of letters does
 * not matter. Patterns after which `!` excludes something again have no counterpart, because a folder counts as a whole.
 */
export function convertIgnores(patterns: readonly string[]): ConvertedIgnores {
  const globs: string[] = [];
  for (const written of patterns) {
    if (/(?<!\\)\[[!^]/.test(written))
      return { problem: `the pattern \`${written}\` has a class that excludes characters` };
    const found = globsOf(written);
    if (found === 'excludes') {
      if (globs.length > 0) return { problem: `the pattern \`${written}\` excludes what others include` };
      continue;
    }
    for (const glob of found) {
      try {
        compileGlob(glob);
      } catch (error) {
        if (error instanceof GlobError) return { problem: `the pattern \`${written}\` ${error.reason}` };
        throw error;
      }
      globs.push(glob);
    }
  }
  return { globs: [...new Set(globs)] };
}

function globsOf(written: string): readonly string[] | 'excludes' {
  if (written.startsWith('#') || /[\r\n]/.test(written)) return [];
  // Trailing spaces do not count, unless they are escaped.
  const pattern = written.replace(/(?<!\\)\s+$/, '').toLowerCase();
  if (pattern === '' || pattern === '/') return [];
  if (pattern.startsWith('!')) return 'excludes';
  const isFolder = pattern.endsWith('/');
  const body = pattern.replace(/^\/|\/+$/g, '').replace(/^\\(?=[#!])/, '');
  if (body.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) return [];
  const isAnchored = pattern.slice(0, -1).includes('/');
  const segments = body.split('/').map(segmentOf);
  const glob = [...(isAnchored || segments[0] === '**' ? [] : ['**']), ...segments]
    .join('/')
    .replace(/(^|\/)\*\*(\/\*\*)+(?=\/|$)/g, '$1**')
    .replace(/^!/, '\\!');
  if (glob.endsWith('/**')) return isFolder ? [`${glob.slice(0, -1)}/**`] : [glob];
  if (glob === '**') return isFolder ? ['*/**'] : ['**'];
  const last = segments.at(-1);
  if (last === '*') return isFolder ? [`${glob}/**`] : [`${glob}*`];
  return isFolder ? [`${glob}/**`] : [glob, `${glob}/**`];
}

function segmentOf(segment: string): string {
  if (segment === '**') return segment;
  return segment
    .replace(/\*{2,}/g, '*')
    .replace(/(?<!\\)\[\^/g, '[!')
    .replace(/(?<!\\)([{}])/g, '\\$1')
    .replace(/(?<!\\)([@?*+!]?)\(/g, (_, sign: string) => `${sign}[(]`)
    .replace(/^ +/, (spaces) => '[ ]'.repeat(spaces.length))
    .replace(/\\\s+$/, '[ ]');
}
