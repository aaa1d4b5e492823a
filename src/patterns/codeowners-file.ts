import type { Matcher } from './automaton.ts';
import type { Meter } from './meter.ts';
import { Re2Compiler } from './re2.ts';

/** One line of a CODEOWNERS file. */
type CodeownersLine = {
  /** From 1. */
  readonly line: number;
  /** The pattern as the forge compiles it, without `!` and anchors. */
  readonly pattern: string;
  /** `!`: the line is about the files that do not match. */
  readonly isNegative: boolean;
  /** Names of users, and of teams as `organization/team`, without `@`. */
  readonly owners: readonly string[];
};

/** How a forge reads the patterns; its versions differ. */
export type CodeownersDialect = {
  /** A leading slash stands for the root of the repository; elsewhere such a pattern matches nothing. */
  readonly hasRoot: boolean;
  /** Patterns have look-ahead and other things that RE2 has not. */
  readonly hasLookaround: boolean;
};

/** White space as Go trims it. */
const spaces = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const outerSpace = new RegExp(`^${spaces}|${spaces}$`, 'g');
/** Units that compiling a pattern takes, beside each of its characters. */
const perPattern = 60_000;
const perPatternCharacter = 1_000;
/** Units that comparing the beginning of a path takes. */
const perComparison = 30;

/**
 * Returns the lines of a CODEOWNERS file that name a pattern and an owner, as the forge reads them: tokens between spaces,
 * `\` takes the next sign as it is, `#` ends the line. Lines of other forms are skipped.
 */
export function parseCodeowners(text: string, { hasRoot }: CodeownersDialect): readonly CodeownersLine[] {
  return text.split('\n').flatMap((written, place): readonly CodeownersLine[] => {
    const [first, ...owners] = splitTokens(written);
    if (first === undefined || owners.length === 0) return [];
    const isNegative = first.startsWith('!');
    const path = isNegative ? first.slice(1) : first;
    const pattern = hasRoot && path.startsWith('/') ? path.slice(1) : path;
    return [{ line: place + 1, pattern, isNegative, owners: owners.map((name) => name.replace(/^@/, '')) }];
  });
}

function splitTokens(line: string): readonly string[] {
  const tokens: string[] = [];
  let token = '';
  let isEscaped = false;
  for (const sign of line.replace(outerSpace, '')) {
    if (isEscaped) {
      token += sign === '\t' ? ' ' : sign;
      isEscaped = false;
    } else if (sign === '\\') isEscaped = true;
    else if (sign === '#') break;
    else if (sign === ' ' || sign === '\t') {
      if (token !== '') tokens.push(token);
      token = '';
    } else token += sign;
  }
  if (token !== '') tokens.push(token);
  return tokens;
}

/** The owners of a path: names as the file has them, in order. */
export type PathOwners = { readonly path: string; readonly owners: ReadonlySet<string> };

/**
 * Returns the owners of each path: those of all lines that match it, and of negative lines that do not. Paid for by the
 * meter. Throws if a pattern cannot be judged, and names its line.
 */
export function findPathOwners(
  lines: readonly CodeownersLine[],
  paths: readonly string[],
  { dialect, meter }: { readonly dialect: CodeownersDialect; readonly meter: Meter },
): readonly PathOwners[] {
  const compiler = new Re2Compiler();
  const found = paths.map((path) => ({ path, owners: new Set<string>() }));
  for (const one of lines) {
    meter.charge(paths.length * perComparison);
    const start = literalStart(one.pattern);
    // Most lines are about other folders, and compiling a pattern takes longer than everything else. A negative line is
    // about all paths, unless its pattern is broken.
    const possible = one.isNegative ? found : found.filter(({ path }) => path.startsWith(start));
    const matches = possible.length === 0 ? undefined : compileLine(one, compiler, { dialect, meter });
    if (matches === undefined) continue;
    for (const { path, owners } of possible) {
      if (matches(path, meter) === one.isNegative) continue;
      for (const owner of one.owners) owners.add(owner);
    }
  }
  return found;
}

/** A line that no file can match, and why: continues a sentence that names the line. */
export type UnmatchedLine = { readonly line: number; readonly written: string; readonly why: string };

/** What begins or ends a pattern of other forges, where a folder stands for the files in it. */
const endOfFolder = /(?:\/|\/[*+?]+)$/;
/** Signs with a meaning in a pattern, apart from the dot, which names of files have. */
const patternSign = /[\\^$|?*+()[\]{}]/;

/** Returns the path that a pattern stands for if it has no signs of patterns, or only ends as if it named a folder. */
export function literalPath(pattern: string): string | undefined {
  const path = pattern.replace(endOfFolder, '');
  return path === '' || patternSign.test(path) ? undefined : path;
}

/**
 * Returns the lines that match no file, because their pattern is not meant as the forge reads it: a regular expression of the whole
 * path. `isFolder`: whether a path is that of a folder.
 */
export function findUnmatchedLines(
  lines: readonly CodeownersLine[],
  { isFolder, meter }: { readonly isFolder: (path: string) => boolean; readonly meter: Meter },
): readonly UnmatchedLine[] {
  const compiler = new Re2Compiler();
  return lines.flatMap(({ line, pattern, isNegative }) => {
    meter.charge(perPattern + pattern.length * perPatternCharacter);
    const literal = literalPath(pattern);
    const isOfFolder = literal !== undefined && isFolder(literal);
    const compiled = compiler.compile(`^${pattern}$`);
    const why = pattern.startsWith('/')
      ? 'begins with a slash, and no path does'
      : pattern.endsWith('/')
        ? 'ends with a slash, and no path does'
        : isOfFolder
          ? `is a folder: its files match ${literal}/.*`
          : 'reason' in compiled && compiled.isSyntax
            ? 'is no regular expression'
            : undefined;
    return why === undefined ? [] : [{ line, written: `${isNegative ? '!' : ''}${pattern}`, why }];
  });
}

/** Returns the text that every match of a pattern begins with; empty if there is none, or that is not plain to see. */
function literalStart(pattern: string): string {
  if (pattern.includes('|')) return '';
  const [start = ''] = /^[^\\^$.|?*+()[\]{}]*/.exec(pattern) ?? [];
  const isRepeated = /^[?*+{]/.test(pattern.slice(start.length));
  return isRepeated ? Array.from(start).slice(0, -1).join('') : start;
}

/** Returns what matches a line; undefined for a broken pattern where the forge itself has RE2 and skips the line. */
function compileLine(
  { line, pattern }: CodeownersLine,
  compiler: Re2Compiler,
  { dialect, meter }: { readonly dialect: CodeownersDialect; readonly meter: Meter },
): Matcher | undefined {
  meter.charge(perPattern + pattern.length * perPatternCharacter);
  const compiled = compiler.compile(`^${pattern}$`);
  if ('matches' in compiled) return compiled.matches;
  if (compiled.isSyntax && !dialect.hasLookaround) return undefined;
  throw new Error(`line ${line} of CODEOWNERS: ${compiled.reason}`);
}
