import type { Matcher } from './automaton.ts';
import type { Meter } from './meter.ts';
import { Re2Compiler, splitLookahead } from './re2.ts';

/** One line of a CODEOWNERS file. */
type CodeownersLine = {
  /** 1-based line number. */
  readonly line: number;
  /** The pattern as the forge compiles it, without the leading `!` and without anchors. */
  readonly pattern: string;
  /** Whether the pattern starts with `!`; the line then applies to the files that do not match the pattern. */
  readonly isNegative: boolean;
  /** Names of users, and of teams (`organization/team`), without `@`. */
  readonly owners: readonly string[];
};

/** Differences between forge versions in how patterns are interpreted. */
export type CodeownersDialect = {
  /**
   * Whether a leading slash means the root of the repository; if not, a pattern with a leading slash matches nothing.
   */
  readonly hasRoot: boolean;
  /** Whether patterns support look-ahead and other features that RE2 lacks. */
  readonly hasLookaround: boolean;
};

/** White space as trimmed by Go. */
const spaces = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const outerSpace = new RegExp(`^${spaces}|${spaces}$`, 'g');
/** Units charged for compiling a pattern, in addition to its characters. */
const perPattern = 60_000;
const perPatternCharacter = 1_000;
/**
 * Maximum length of a pattern, in characters: longer than elsewhere, because a look-ahead lists the later lines. The
 * size of the compiled pattern is limited as elsewhere.
 */
export const maxPatternLength = 2_000;
/** Units charged for comparing the start of a path. */
const perComparison = 30;

/**
 * Returns the lines of a CODEOWNERS file that have a pattern and an owner, parsed as the forge does: spaces separate
 * tokens, `\` escapes the next character, `#` starts a comment. Other lines are skipped.
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

/** A path and its owners: names as written in the file, in order. */
export type PathOwners = { readonly path: string; readonly owners: ReadonlySet<string> };

/**
 * Returns the owners of each path: those on lines that match the path, and those on negative lines that do not match
 * it. Charged to the meter. Throws an error with the line number if a pattern cannot be evaluated.
 */
export function findPathOwners(
  lines: readonly CodeownersLine[],
  paths: readonly string[],
  { dialect, meter }: { readonly dialect: CodeownersDialect; readonly meter: Meter },
): readonly PathOwners[] {
  const compiler = new Re2Compiler({ length: maxPatternLength });
  const found = paths.map((path) => ({ path, owners: new Set<string>() }));
  for (const one of lines) {
    meter.charge(paths.length * perComparison);
    const start = literalStart(one.pattern);
    // Paths are filtered first, because most lines concern other folders, and compiling a pattern is the most expensive
    // step. A negative line may apply to any path.
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

/** A line that no file can match. `why` is the reason, phrased to continue a sentence about the line. */
export type UnmatchedLine = { readonly line: number; readonly written: string; readonly why: string };

/** Endings of patterns for folders on other forges, where a folder stands for all files in it. */
const endOfFolder = /(?:\/|\/[*+?]+)$/;
/** Metacharacters of patterns, except the dot, which is common in file names. */
const patternSign = /[\\^$|?*+()[\]{}]/;

/** Returns the literal path of a pattern that has no metacharacters, except for the ending of a folder pattern. */
export function literalPath(pattern: string): string | undefined {
  const path = pattern.replace(endOfFolder, '');
  return path === '' || patternSign.test(path) ? undefined : path;
}

/**
 * Returns the lines that match no file because the forge does not interpret their pattern as intended: a pattern is a
 * regular expression for the whole path. `isFolder` returns whether a path is a folder.
 */
export function findUnmatchedLines(
  lines: readonly CodeownersLine[],
  { isFolder, meter }: { readonly isFolder: (path: string) => boolean; readonly meter: Meter },
): readonly UnmatchedLine[] {
  const compiler = new Re2Compiler({ length: maxPatternLength });
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
            ? 'is not a valid regular expression'
            : undefined;
    return why === undefined ? [] : [{ line, written: `${isNegative ? '!' : ''}${pattern}`, why }];
  });
}

/**
 * Returns the literal prefix that all matches of a pattern share; empty if there is none, or if it cannot be determined
 * easily.
 */
function literalStart(pattern: string): string {
  if (pattern.includes('|')) return '';
  const [start = ''] = /^[^\\^$.|?*+()[\]{}]*/.exec(pattern) ?? [];
  const isRepeated = /^[?*+{]/.test(pattern.slice(start.length));
  return isRepeated ? Array.from(start).slice(0, -1).join('') : start;
}

/**
 * Returns the matcher of a line. Returns undefined for an invalid pattern if the forge itself uses RE2 and therefore
 * skips the line.
 */
function compileLine(
  { line, pattern }: CodeownersLine,
  compiler: Re2Compiler,
  { dialect, meter }: { readonly dialect: CodeownersDialect; readonly meter: Meter },
): Matcher | undefined {
  meter.charge(perPattern + pattern.length * perPatternCharacter);
  const anchored = `^${pattern}$`;
  if (!dialect.hasLookaround && splitLookahead(anchored)) return undefined;
  const compiled = compiler.compile(anchored);
  if ('matches' in compiled) return compiled.matches;
  if (compiled.isSyntax && !dialect.hasLookaround) return undefined;
  throw new Error(`line ${line} of CODEOWNERS: ${compiled.reason}`);
}
