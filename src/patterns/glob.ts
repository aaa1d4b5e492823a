import { createMatcher, type Matcher } from './automaton.ts';
import { createUnlimitedMeter, type Meter } from './meter.ts';
import { buildProgram, complementOf, everyRune, type Node, uniteRanges } from './program.ts';

export type GlobOptions = {
  /**
   * Characters that `*`, `?` and `[!a]` do not match. `/` (default): for paths and branch protections. Empty: for tag
   * protections and the branch filter of a hook, where `*` also matches `/`. `/.`: for the forge's protected file
   * patterns.
   */
  readonly separator?: '/' | '' | '/.';
  /**
   * Whether a `**` that is a whole segment also matches zero segments, so that `a/**` followed by `/b` matches `a/b`
   * (default: true if the separator is `/`). In the forge's own globs, `**` matches any text and has no special meaning
   * as a segment.
   */
  readonly segments?: boolean;
  /**
   * Whether syntax of other shells, and leading or trailing spaces, are rejected (default: true). They would be literal
   * characters here, and would not match what the pattern's author intends. Set to false for patterns that a forge
   * stores, which keep the forge's meaning.
   */
  readonly strict?: boolean;
};

export const maxGlobLength = 500;
/** Units charged for comparing a text with a pattern without wildcards. */
const perComparison = 20;

/**
 * Returns the matcher of a glob or of a list of globs. A list matches if any of its entries does; an entry that starts
 * with `!` excludes, and the last matching entry decides. A list with only exclusions matches nothing and is rejected.
 * Throws GlobError immediately for an invalid pattern. Matching is linear in the length of the text, and is charged to
 * the meter.
 *
 * Globs are case-sensitive; a leading dot is an ordinary character.
 */
export function compileGlob(pattern: string | readonly string[], options: GlobOptions = {}): Matcher {
  const list = typeof pattern === 'string' ? [pattern] : pattern;
  const entries = list.map((entry) => {
    const excludes = entry.startsWith('!');
    if (options.strict ?? true) refuseOtherSyntax(entry);
    return { excludes, matches: compileEntry(excludes ? entry.slice(1) : entry, options) };
  });
  const [first] = entries;
  if (first === undefined) throw new GlobError('', 'is an empty list');
  if (entries.every((entry) => entry.excludes)) {
    throw new GlobError(list[0] ?? '', 'only excludes: first list what should match');
  }
  if (entries.length === 1) return first.matches;
  return (text, meter) => {
    let included = false;
    for (const { excludes, matches } of entries) {
      if (included === excludes && matches(text, meter)) included = !excludes;
    }
    return included;
  };
}

/** Returns an unmetered matcher for trusted patterns: those in settings and in the embedded forge. */
export function createGlob(
  pattern: string | readonly string[],
  options: GlobOptions = {},
): (text: string) => boolean {
  const matches = compileGlob(pattern, options);
  const meter = createUnlimitedMeter();
  return (text) => matches(text, meter);
}

/** Returns the syntax tree of a path glob without `!`. Throws GlobError if it is invalid or can never match. */
export function parsePathGlob(pattern: string): Node {
  refuseOtherSyntax(pattern);
  refuseInvalid(pattern, true);
  return parseGlob(pattern, '/', true);
}

function refuseInvalid(pattern: string, segments: boolean): void {
  if (pattern === '') throw new GlobError(pattern, 'is empty');
  if (pattern.length > maxGlobLength)
    throw new GlobError(pattern, `is longer than ${maxGlobLength} characters`);
  if (segments) refuseImpossiblePath(pattern);
}

function compileEntry(pattern: string, options: GlobOptions): Matcher {
  const separator = options.separator ?? '/';
  const segments = options.segments ?? separator === '/';
  refuseInvalid(pattern, segments);
  // Parsed immediately, to detect an invalid pattern. The program is built only for the first text, because most
  // patterns of a rule file are never used.
  parseGlob(pattern, separator, segments);
  if (!/[*?[\]{}\\]/.test(pattern)) return (text, meter) => equalsPattern(text, pattern, meter);
  return createMatcher(() => buildProgram(parseGlob(pattern, separator, segments)));
}

function equalsPattern(text: string, pattern: string, meter: Meter): boolean {
  meter.charge(perComparison + pattern.length);
  return text === pattern;
}

/** What to write instead of extended glob groups, by the character before the parenthesis. */
const groupRemedies: Readonly<Record<string, string>> = {
  '@': 'write {a,b}',
  '?': 'write {,a}',
  '*': 'use a regular expression for repetitions',
  '+': 'use a regular expression for repetitions',
  '!': 'list what matches',
  '': 'write {a,b}',
};

/**
 * Rejects syntax of other shells that would be literal in these globs. Escaped characters, and single characters in a
 * class, are meant to be literal.
 */
function refuseOtherSyntax(entry: string): void {
  const refuse = (reason: string, offset: number): never => {
    throw new GlobError(entry, reason, offset);
  };
  // Replaced with a string of the same length, so that positions stay correct.
  const bare = entry.replace(/\\./gsu, (escaped) => '_'.repeat(escaped.length));
  if (/^!?\s|\s$/u.test(bare))
    refuse('starts or ends with white space, which names never do: remove it, or write [ ] for a space', 0);
  const posix = /\[[^\]]*(\[([:.=])[^\]]*?\2\])/u.exec(bare);
  if (posix)
    refuse(
      `has the class ${posix[1]}, which these globs do not support: list the characters, as in [a-zA-Z0-9]`,
      posix.index,
    );
  const plain = bare.replace(/\[[^\]]*\]/gu, (members) => '_'.repeat(members.length));
  const group = /([@?*+!])\([^()]*\)|\([^()|]*\|[^()]*\)/u.exec(plain);
  if (group) {
    const written = entry.slice(group.index, group.index + group[0].length);
    const remedy = groupRemedies[group[1] ?? ''];
    refuse(
      `has the group ${written}, which these globs do not support: ${remedy}, or [(] for a parenthesis`,
      group.index,
    );
  }
  const spaced = /\{[^{}]*,\s[^{}]*\}/u.exec(plain);
  if (spaced)
    refuse(
      'has a space after a comma in braces, which is part of the name: remove it, or write [ ]',
      spaced.index,
    );
}

function refuseImpossiblePath(pattern: string): void {
  const cannot = (reason: string): never => {
    throw new GlobError(pattern, `cannot match: ${reason}`);
  };
  if (pattern.startsWith('/')) cannot('paths do not start with a slash');
  if (pattern.endsWith('/')) cannot(`paths do not end with a slash; "${pattern}**" matches everything below`);
  if (pattern.includes('//')) cannot('paths have no empty segments');
  if (pattern.split('/').some((part) => part === '.' || part === '..')) cannot('paths have no "." or ".."');
}

const maxDepth = 8;
const empty: Node = { kind: 'sequence', of: [] };

/**
 * Parses a glob: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}` (nestable) and `\`. Braces become alternatives and are
 * never expanded, so the length of the program is proportional to the length of the pattern. Throws GlobError if the
 * pattern is invalid.
 */
function parseGlob(pattern: string, separator: string, segments: boolean): Node {
  return new GlobParser(pattern, separator, segments).alternatives();
}

/** Single-pass pattern parser. */
class GlobParser {
  readonly #pattern: string;
  readonly #segments: boolean;
  readonly #separators: readonly number[];
  /** Matches one character that is not a separator. */
  readonly #one: Node;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, separator: string, segments: boolean) {
    this.#pattern = pattern;
    this.#segments = segments;
    this.#separators = [...separator].flatMap((sign) => runeRange(sign));
    this.#one = { kind: 'runes', ranges: complementOf(this.#separators) };
  }

  /** Parses alternatives up to the end of the pattern, or up to the closing brace of the current group. */
  alternatives(): Node {
    const ways: Node[][] = [[]];
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      if (sign === '}') {
        if (this.#depth === 0) this.#refuse('closes a brace that was never opened');
        break;
      }
      if (sign === ',' && this.#depth > 0) {
        this.#at += 1;
        ways.push([]);
      } else ways.at(-1)?.push(this.#piece());
    }
    const choices = ways.map((of): Node => ({ kind: 'sequence', of }));
    return choices.length === 1 ? (choices[0] ?? empty) : { kind: 'choice', of: choices };
  }

  #piece(): Node {
    switch (this.#pattern[this.#at]) {
      case '*':
        return this.#star();
      case '?':
        this.#at += 1;
        return this.#one;
      case '[':
        return this.#class();
      case '{':
        return this.#group();
      default:
        return { kind: 'runes', ranges: runeRange(this.#character()) };
    }
  }

  #star(): Node {
    if (this.#pattern[this.#at + 1] !== '*') {
      this.#at += 1;
      return { kind: 'any-number', of: this.#one };
    }
    const opens = this.#at === 0 || '/{,'.includes(this.#pattern[this.#at - 1] ?? '');
    while (this.#pattern[this.#at] === '*') this.#at += 1;
    const any: Node = { kind: 'runes', ranges: everyRune };
    const text: Node = { kind: 'any-number', of: any };
    if (!this.#segments || !opens) return text;
    // A trailing `**` requires at least one character: `docs/**` does not match `docs/`.
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== '/') return ends ? { kind: 'sequence', of: [any, text] } : text;
    this.#at += 1;
    const folders: Node = { kind: 'sequence', of: [text, { kind: 'runes', ranges: runeRange('/') }] };
    return { kind: 'choice', of: [folders, empty] };
  }

  #group(): Node {
    const opened = this.#at;
    const range = /^\{[^{},]*\.\.[^{},]*\}/.exec(this.#pattern.slice(opened));
    if (range) this.#refuse(`has the range ${range[0]}, which these globs do not support: list the values`);
    this.#depth += 1;
    if (this.#depth > maxDepth) this.#refuse(`nests braces deeper than ${maxDepth}`);
    this.#at += 1;
    const inner = this.alternatives();
    if (this.#at >= this.#pattern.length) this.#refuse('does not close its brace', opened);
    this.#at += 1;
    this.#depth -= 1;
    return inner;
  }

  #class(): Node {
    const opened = this.#at;
    this.#at += 1;
    const negated = this.#pattern[this.#at] === '!' || this.#pattern[this.#at] === '^';
    if (negated) this.#at += 1;
    const members: number[] = [];
    while (this.#pattern[this.#at] !== ']') members.push(...this.#member(opened));
    if (members.length === 0) this.#refuse('has an empty class []', opened);
    this.#at += 1;
    const ranges = negated ? complementOf([...members, ...this.#separators]) : uniteRanges(members);
    return { kind: 'runes', ranges };
  }

  #member(opened: number): readonly [number, number] {
    if (this.#at >= this.#pattern.length) this.#refuse('does not close its bracket', opened);
    const first = this.#character();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== '-' || next === ']' || next === undefined) return runeRange(first);
    this.#at += 1;
    const last = this.#character();
    const [from, to] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
    if (to < from) this.#refuse(`has the range ${first}-${last}, which runs backwards`, opened);
    return [from, to];
  }

  /** Reads one character, or the one after a backslash. */
  #character(): string {
    if (this.#pattern[this.#at] === '\\') {
      this.#at += 1;
      if (this.#at >= this.#pattern.length) this.#refuse('ends with a backslash', this.#at - 1);
    }
    const point = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += point.length;
    return point;
  }

  #refuse(reason: string, offset = this.#at): never {
    throw new GlobError(this.#pattern, reason, offset);
  }
}

function runeRange(sign: string): [number, number] {
  const rune = sign.codePointAt(0) ?? 0;
  return [rune, rune];
}

/** Thrown for a glob that is invalid or can never match. `reason` continues the sentence `"PATTERN" …`. */
export class GlobError extends Error {
  readonly pattern: string;
  readonly reason: string;
  /** 0-based position in the pattern. */
  readonly offset: number;

  constructor(pattern: string, reason: string, offset = 0) {
    super(`the pattern "${pattern}" ${reason}`);
    this.name = 'GlobError';
    this.pattern = pattern;
    this.reason = reason;
    this.offset = offset;
  }
}

/**
 * Returns the matcher of a forge glob (no list, no leading `!`, `**` means any text); undefined if the glob is invalid.
 */
export function compileForgeGlob(pattern: string, separator: '/' | '' | '/.'): Matcher | undefined {
  try {
    return compileGlob(pattern.replace(/^!/, '\\!'), { separator, segments: false, strict: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

/**
 * Returns why a rule must not set this pattern on a forge: it is invalid, or does not match what its author intends.
 */
export function forgeGlobProblem(pattern: string, separator: '/' | '' | '/.'): string | undefined {
  try {
    compileGlob(pattern.replace(/^!(?!\()/, '\\!'), { separator, segments: false });
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return error.message;
    throw error;
  }
}

/**
 * Returns a matcher for repositories (`owner/name`) and organizations (`owner`). `*` alone matches everything, `acme/*`
 * matches acme itself and all of its repositories, and `!acme/attic` excludes one of them. Matching is
 * case-insensitive, because no two owners or repositories of a forge differ only in case.
 */
export function compileScope(patterns: string | readonly string[]): Matcher {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  const matches = compileGlob(list.flatMap(scopeEntry));
  return (fullName, meter) => matches(fullName.toLowerCase(), meter);
}

/** Returns an unmetered matcher for scopes in settings. */
export function createRepositoryScope(patterns: string | readonly string[]): (fullName: string) => boolean {
  const matches = compileScope(patterns);
  const meter = createUnlimitedMeter();
  return (fullName) => matches(fullName, meter);
}

function scopeEntry(entry: string): string[] {
  const excludes = entry.startsWith('!') ? '!' : '';
  const pattern = entry.slice(excludes.length).toLowerCase();
  if (/\s/u.test(pattern))
    throw new GlobError(entry, 'does not name a repository: names have no white space');
  if (pattern === '*' || pattern === '**') return [`${excludes}**`];
  const [owner, name, ...more] = pattern.split('/');
  if (!owner || !name || more.length > 0) {
    throw new GlobError(entry, `does not name a repository: write "owner/name", "owner/*" or "*"`);
  }
  const whole = name === '*' || name === '**';
  return whole ? [`${excludes}${pattern}`, `${excludes}${owner}`] : [`${excludes}${pattern}`];
}
