import type { Matcher } from './automaton.ts';
import type { Meter } from './meter.ts';
import { Re2Compiler } from './re2.ts';

/** One line of a CODEOWNERS file. */
type CodeownersLine = {
  /** 1-based line number. */
  readonly line: number;
  /** The pattern as the forge compiles it, without `!` and anchors. */
  readonly pattern: string;
  /** `!`: the line applies to the files that do not match. */
  readonly isNegative: boolean;
  /** Names of users, and of teams as `organization/team`, without `@`. */
  readonly owners: readonly string[];
};

/** Differences in how forge versions interpret the patterns. */
export type CodeownersDialect = {
  /** A leading slash means the root of the repository; otherwise such a pattern matches nothing. */
  readonly hasRoot: boolean;
  /** Patterns support look-ahead and other features that RE2 lacks. */
  readonly hasLookaround: boolean;
};

/** White space as Go trims it. */
const spaces = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const outerSpace = new RegExp(`^${spaces}|${spaces}$`, 'g');
/** Units for compiling a pattern, in addition to its characters. */
const perPattern = 60_000;
const perPatternCharacter = 1_000;
/** Units for comparing the beginning of a path. */
const perComparison = 30;

/**
 * Returns the lines of a CODEOWNERS file that have a pattern and an owner, as the forge parses them: tokens between spaces,
 * `\` escapes the next character, `#` starts a comment. Lines of other forms are skipped.
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

/** The owners of a path: names as in the file, in order. */
export type PathOwners = { readonly path: string; readonly owners: ReadonlySet<string> };

/**
 * Returns the owners of each path: those of all lines that match it, and of negative lines that do not. Charged to the
 * meter. Throws if a pattern cannot be evaluated, naming its line.
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
    // Most lines concern other folders, and compiling a pattern is the most expensive step. A negative line applies
    // to all paths, unless its pattern is invalid.
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

/** A line that no file can match, and the reason, which continues a sentence about the line. */
export type UnmatchedLine = { readonly line: number; readonly written: string; readonly why: string };

/** Endings of a folder pattern of other forges, where a folder stands for the files in it. */
const endOfFolder = /(?:\/|\/[*+?]+)$/;
/** Pattern metacharacters, except the dot, which file names contain. */
const patternSign = /[\\^$|?*+()[\]{}]/;

/** Returns the literal path of a pattern if it has no metacharacters, or only ends like a folder pattern. */
export function literalPath(pattern: string): string | undefined {
  const path = pattern.replace(endOfFolder, '');
  return path === '' || patternSign.test(path) ? undefined : path;
}

/**
 * Returns the lines that match no file, because the forge does not interpret their pattern as intended: it is a regular
 * expression of the whole path. `isFolder`: returns whether a path is a folder.
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
            ? 'is not a valid regular expression'
            : undefined;
    return why === undefined ? [] : [{ line, written: `${isNegative ? '!' : ''}${pattern}`, why }];
  });
}

/** Returns the literal prefix of every match of a pattern; empty if there is none, or if it is not obvious. */
function literalStart(pattern: string): string {
  if (pattern.includes('|')) return '';
  const [start = ''] = /^[^\\^$.|?*+()[\]{}]*/.exec(pattern) ?? [];
  const isRepeated = /^[?*+{]/.test(pattern.slice(start.length));
  return isRepeated ? Array.from(start).slice(0, -1).join('') : start;
}

/** Returns the matcher of a line; undefined for an invalid pattern if the forge itself uses RE2 and skips the line. */
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
