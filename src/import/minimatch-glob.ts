import { compileGlob, GlobError } from '../patterns/glob.ts';

/**
 * A glob of minimatch for paths of files, in globs of the language. `lists`: the path matches one of these lists, each
 * an argument of `glob`; without lists, it matches none, and `never` says why. `isNegated`: then the paths that match no
 * list match.
 */
export type ConvertedGlob =
  | { readonly lists: readonly (readonly string[])[]; readonly isNegated: boolean; readonly never?: string }
  | { readonly problem: string };

/** A pattern expands to at most so many patterns without braces. */
const maxExpanded = 40;

/**
 * Converts a glob of minimatch (3 to 10) without options except `dot`. In minimatch, a `**` inside of a segment is `*`,
 * `x/**\/*` is everything below `x`, a pattern that begins or ends with `/` matches no file, and without `dot`, a
 * wildcard at the start of a segment does not match a `.`.
 */
export function convertMinimatch(
  pattern: string,
  { dot = true }: { readonly dot?: boolean } = {},
): ConvertedGlob {
  if (pattern === '') return { lists: [], isNegated: false, never: 'the pattern is empty' };
  if (pattern.startsWith('#')) {
    const never = 'minimatch takes a pattern that starts with `#` as a comment';
    return { lists: [], isNegated: false, never };
  }
  const [, marks = '', body = ''] = /^(!*)(.*)$/s.exec(pattern) ?? [];
  // `!(a|b)` is a group, not a negation.
  if (marks.length > 0 && body.startsWith('('))
    return { problem: 'the group `!( )` of another shell has no counterpart' };
  const isNegated = marks.length % 2 === 1;
  const never = neverMatches(body);
  if (never !== undefined) return { lists: [], isNegated, never };
  if (body.split('/').includes('..')) return { problem: 'a folder `..` has no counterpart' };
  if (/\[\[[:.=]/.test(body)) return { problem: 'classes such as `[[:alpha:]]` have no counterpart' };
  const choices = asChoices(body, dot);
  if (typeof choices !== 'string') return choices;
  const expanded = expandBraces(choices, dot);
  if (expanded === undefined || expanded.length > maxExpanded)
    return { problem: 'its braces have no counterpart, or are too many' };
  const lists: (readonly string[])[] = [];
  const plain: string[] = [];
  for (const one of expanded) {
    const glob = globOf(one);
    if (neverMatches(glob) !== undefined) continue;
    const hidden = dot ? [] : hiddenBy(glob);
    if (hidden === undefined) return { problem: 'a class at the start of a segment may match a `.`' };
    try {
      for (const each of [glob, ...hidden]) compileGlob(each);
    } catch (error) {
      if (error instanceof GlobError) return { problem: error.reason };
      throw error;
    }
    if (hidden.length === 0) plain.push(glob);
    else lists.push([glob, ...hidden.map((each) => `!${each}`)]);
  }
  return { lists: plain.length > 0 ? [plain, ...lists] : lists, isNegated };
}

function neverMatches(body: string): string | undefined {
  if (body === '') return 'the pattern is empty';
  if (body.startsWith('/')) return 'paths of changed files do not begin with `/`';
  if (body.endsWith('/')) return 'no file has a path that ends with `/`';
  if (body.split('/').includes('.')) return 'paths of changed files have no folder `.`';
  return undefined;
}

/** Returns the pattern with the groups `@( )` and `?( )` as braces; a problem for other groups. */
function asChoices(body: string, dot: boolean): string | { readonly problem: string } {
  const problem = { problem: 'the group of another shell has no counterpart' };
  const groups = /(?<!\\)([@?])\(([^()]*)\)/g;
  for (const [, , inner = ''] of body.matchAll(groups)) {
    if (/[\\{}[\]/,]/.test(inner) || (!dot && /(^|\|)[.*?]/.test(inner))) return problem;
  }
  const replaced = body.replace(groups, (_, sign: string, inner: string) => {
    const choices = [...(sign === '?' ? [''] : []), ...inner.split('|')];
    return choices.length === 1 ? (choices[0] ?? '') : `{${choices.join(',')}}`;
  });
  return /(?<!\\)[?*+@!]\(/.test(replaced) ? problem : replaced;
}

/**
 * Returns the patterns that braces stand for; braces whose choices are plain names stay, because the language has them.
 * Undefined if they have no counterpart.
 */
function expandBraces(pattern: string, dot: boolean, depth = 0): readonly string[] | undefined {
  if (depth > 100 || pattern.includes('${')) return undefined;
  const { open, close, commas } = firstBraces(pattern);
  if (open === undefined || close === undefined) return [pattern];
  const [before, inner, after] = [
    pattern.slice(0, open),
    pattern.slice(open + 1, close),
    pattern.slice(close + 1),
  ];
  const range = /^(-?\d{1,4})\.\.(-?\d{1,4})$/.exec(inner);
  let choices: readonly string[];
  if (range) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    if (Math.abs(to - from) >= maxExpanded || /^-?0\d/.test(`${range[1]}`)) return undefined;
    const step = from <= to ? 1 : -1;
    choices = Array.from({ length: Math.abs(to - from) + 1 }, (_, place) => String(from + step * place));
  } else if (/^[a-zA-Z]\.\.[a-zA-Z]$|\.\..*\.\./.test(inner)) return undefined;
  else if (commas.length === 0) choices = [`\\{${inner}\\}`];
  else {
    const places = [open, ...commas, close];
    choices =
      commas.length === 0
        ? [inner]
        : places.slice(1).map((to, at) => pattern.slice((places[at] ?? 0) + 1, to));
  }
  const isPlain =
    commas.length > 0 && choices.every((choice) => /^[\w.-]*$/.test(choice) && !/^\./.test(choice));
  const isHiddenStart = !dot && /(^|\/)$/.test(before);
  if (isPlain && !isHiddenStart && !(before === '' && after === '')) {
    const rest = expandBraces(after, dot, depth + 1);
    return rest?.map((one) => `${before}\u0001${inner}\u0002${one}`);
  }
  const all: string[] = [];
  for (const choice of choices) {
    const literal = commas.length === 0 && !range;
    const rest = literal
      ? expandBraces(after, dot, depth + 1)
      : expandBraces(`${choice}${after}`, dot, depth + 1);
    if (rest === undefined || all.length > maxExpanded) return undefined;
    all.push(...rest.map((one) => (literal ? `${before}${choice}${one}` : `${before}${one}`)));
  }
  return all;
}

/** Returns the positions of the first pair of braces, and of the commas directly in it. */
function firstBraces(pattern: string): {
  readonly open?: number;
  readonly close?: number;
  readonly commas: readonly number[];
} {
  let open: number | undefined;
  let depth = 0;
  const commas: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === '\\') at += 1;
    else if (sign === '{') {
      open ??= at;
      depth += 1;
    } else if (sign === ',' && depth === 1) commas.push(at);
    else if (sign === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0 && open !== undefined) return { open, close: at, commas };
    }
  }
  return { commas: [] };
}

/** Returns a pattern without braces as a glob of the language. */
function globOf(pattern: string): string {
  const segments = pattern
    .replace(/\/+/g, '/')
    .split('/')
    .map((segment) =>
      segment === '**' ? segment : segment.replace(/\*{2,}/g, '*').replace(/(?<!\\)\[\^/g, '[!'),
    );
  return segments
    .join('/')
    .replace(/(^|\/)\*\*(\/\*\*)+(?=\/|$)/g, '$1**')
    .replace(/(^|\/)\*\*\/\*$/, '$1**')
    .replace(/(?<!\\)([{}])/g, '\\$1')
    .replaceAll('\u0001', '{')
    .replaceAll('\u0002', '}')
    .replace(/^ +| +$/g, (spaces) => '[ ]'.repeat(spaces.length))
    .replace(/(?<!\\)\((?=[^()]*\|)/g, '[(]')
    .replace(/^!/, '\\!');
}

/**
 * Returns globs of the paths that a glob matches only because a wildcard at the start of a segment matches a `.`.
 * Undefined if a class stands at such a place.
 */
function hiddenBy(glob: string): readonly string[] | undefined {
  const segments = glob.split('/');
  const hidden: string[] = [];
  for (const [place, segment] of segments.entries()) {
    const put = (...instead: readonly string[]): unknown =>
      hidden.push([...segments.slice(0, place), ...instead, ...segments.slice(place + 1)].join('/'));
    if (segment === '**') {
      if (place === segments.length - 1) put('**', '.*');
      put('**', '.*', '**');
    } else if (segment.startsWith('*')) {
      put(`.${segment}`);
      if (segment.startsWith('*.')) put(segment.slice(1));
    } else if (segment.startsWith('?')) put(`.${segment.slice(1)}`);
    else if (segment.startsWith('[') && !/^\[[\w-]+\]/.test(segment)) return undefined;
  }
  return hidden;
}
