import { RE2JS } from 're2js';

/** Raised for a glob that is broken or that nothing could ever match. `reason` continues the sentence `"PATTERN" …`. */
export class GlobError extends Error {
  readonly pattern: string;
  readonly reason: string;
  /** Where in the pattern, counted from 0. */
  readonly offset: number;

  constructor(pattern: string, reason: string, offset = 0) {
    super(`the pattern "${pattern}" ${reason}`);
    this.name = 'GlobError';
    this.pattern = pattern;
    this.reason = reason;
    this.offset = offset;
  }
}

export type GlobOptions = {
  /**
   * What `*`, `?` and `[!a]` do not cross. `/` (default): paths and branch protections. Empty: tag protections and the
   * branch filter of a hook, where `*` crosses `/`. `/.`: the forge's protected file patterns.
   */
  readonly separator?: '/' | '' | '/.';
  /**
   * Whether a whole segment `**` also stands for no segment at all, so that `a/**` before `/b` matches `a/b` (default:
   * true where the separator is `/`). The forge's own globs know no such thing: there `**` is any text and nothing else.
   */
  readonly segments?: boolean;
};

const maxLength = 500;
const maxDepth = 8;
/** Compiled patterns kept: rule files of many repositories repeat the same few. */
const maxCompiled = 2_000;

/**
 * Returns the RE2 text, anchored at both ends, of a glob: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}` (nestable) and `\`,
 * case-sensitive; a leading dot is a character like any other. Throws GlobError where the pattern is broken or cannot
 * match. Braces become alternatives and are never multiplied out, so the text stays as long as the pattern.
 */
export function globToRe2(pattern: string, options: GlobOptions = {}): string {
  const separator = options.separator ?? '/';
  const segments = options.segments ?? separator === '/';
  if (pattern === '') throw new GlobError(pattern, 'is empty');
  if (pattern.length > maxLength) throw new GlobError(pattern, `is longer than ${maxLength} characters`);
  if (segments) refuseImpossiblePath(pattern);
  return `^(?s:${new Translation(pattern, separator, segments).alternatives()})$`;
}

/**
 * Returns a function that says whether a text matches. Of a list, any entry may match; an entry that starts with `!`
 * takes out again, and the last entry that matches decides. A list that only takes out matches nothing and is refused.
 * Throws GlobError at once for a broken pattern; matching itself never throws and is linear in the text.
 */
export function createGlob(
  pattern: string | readonly string[],
  options: GlobOptions = {},
): (text: string) => boolean {
  const list = typeof pattern === 'string' ? [pattern] : pattern;
  const entries = list.map((entry) => {
    const excludes = entry.startsWith('!');
    return { excludes, matches: createMatcher(excludes ? entry.slice(1) : entry, options) };
  });
  const [first] = entries;
  if (first === undefined) throw new GlobError('', 'is an empty list');
  if (entries.every((entry) => entry.excludes)) {
    throw new GlobError(list[0] ?? '', 'only takes out: name first what shall match');
  }
  if (entries.length === 1) return first.matches;
  return (text) => {
    let included = false;
    for (const { excludes, matches } of entries) {
      if (included === excludes && matches(text)) included = !excludes;
    }
    return included;
  };
}

/**
 * Returns a function that says whether a repository (`owner/name`) or an organization (`owner`) lies in the scope.
 * `*` alone is everything, `acme/*` every repository of acme and acme itself, `!acme/attic` takes one out again.
 * Letters compare without case, since no two owners or repositories of a forge differ in case alone.
 */
export function createScope(patterns: string | readonly string[]): (fullName: string) => boolean {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  const matches = createGlob(list.flatMap(scopeEntry));
  return (fullName) => matches(fullName.toLowerCase());
}

function scopeEntry(entry: string): string[] {
  const excludes = entry.startsWith('!') ? '!' : '';
  const pattern = entry.slice(excludes.length).toLowerCase();
  if (pattern === '*' || pattern === '**') return [`${excludes}**`];
  const [owner, name, ...more] = pattern.split('/');
  if (!owner || !name || more.length > 0) {
    throw new GlobError(entry, `names no repository: write "owner/name", "owner/*" or "*"`);
  }
  const whole = name === '*' || name === '**';
  return whole ? [`${excludes}${pattern}`, `${excludes}${owner}`] : [`${excludes}${pattern}`];
}

function refuseImpossiblePath(pattern: string): void {
  const cannot = (reason: string): never => {
    throw new GlobError(pattern, `cannot match: ${reason}`);
  };
  if (pattern.startsWith('/')) cannot('paths have no slash in front');
  if (pattern.endsWith('/')) cannot(`paths do not end with a slash; "${pattern}**" means all below`);
  if (pattern.includes('//')) cannot('paths have no empty part');
  if (pattern.split('/').some((part) => part === '.' || part === '..')) cannot('paths have no "." or ".."');
}

const compiled = new Map<string, (text: string) => boolean>();

function createMatcher(pattern: string, options: GlobOptions): (text: string) => boolean {
  const text = globToRe2(pattern, options);
  if (!/[*?[\]{}\\]/.test(pattern)) return (candidate) => candidate === pattern;
  const known = compiled.get(text);
  if (known) return known;
  // Compiled when first asked: loading 10,000 rules must not pay for the patterns of rules that never listen.
  let engine: RE2JS | undefined;
  const matcher = (candidate: string): boolean => {
    engine ??= RE2JS.compile(text);
    return engine.test(candidate);
  };
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(text, matcher);
  return matcher;
}

/** One pass over a pattern, from left to right. */
class Translation {
  readonly #pattern: string;
  readonly #separator: string;
  readonly #segments: boolean;
  /** One character that is no separator. */
  readonly #one: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, separator: string, segments: boolean) {
    this.#pattern = pattern;
    this.#separator = separator;
    this.#segments = segments;
    this.#one = separator === '' ? '.' : `[^${separator}]`;
  }

  /** Reads alternatives up to the end of the pattern, or up to the brace that closes the current group. */
  alternatives(): string {
    let text = '';
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      if (sign === '}') {
        if (this.#depth === 0) this.#refuse('closes a brace that was never opened');
        return text;
      }
      text += sign === ',' && this.#depth > 0 ? this.#take('|') : this.#piece();
    }
    return text;
  }

  #piece(): string {
    switch (this.#pattern[this.#at]) {
      case '*':
        return this.#star();
      case '?':
        return this.#take(this.#one);
      case '[':
        return this.#class();
      case '{':
        return this.#group();
      default:
        return quote(this.#character());
    }
  }

  #star(): string {
    if (this.#pattern[this.#at + 1] !== '*') return this.#take(`${this.#one}*`);
    const opens = this.#at === 0 || '/{,'.includes(this.#pattern[this.#at - 1] ?? '');
    while (this.#pattern[this.#at] === '*') this.#at += 1;
    if (!this.#segments || !opens) return '.*';
    // A trailing `**` wants something below: `docs/**` is not `docs/`.
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== '/') return ends ? '.+' : '.*';
    this.#at += 1;
    return '(?:.*/)?';
  }

  #group(): string {
    const opened = this.#at;
    const range = /^\{[^{},]*\.\.[^{},]*\}/.exec(this.#pattern.slice(opened));
    if (range) this.#refuse(`has the range ${range[0]}, which globs here do not know: list the values`);
    this.#depth += 1;
    if (this.#depth > maxDepth) this.#refuse(`nests braces deeper than ${maxDepth}`);
    this.#at += 1;
    const inner = this.alternatives();
    if (this.#at >= this.#pattern.length) this.#refuse('does not close its brace', opened);
    this.#at += 1;
    this.#depth -= 1;
    return `(?:${inner})`;
  }

  #class(): string {
    const opened = this.#at;
    this.#at += 1;
    const negated = this.#pattern[this.#at] === '!' || this.#pattern[this.#at] === '^';
    if (negated) this.#at += 1;
    let members = '';
    while (this.#pattern[this.#at] !== ']') {
      members += this.#member(opened);
    }
    if (members === '') this.#refuse('has an empty class []', opened);
    this.#at += 1;
    return negated ? `[^${members}${quote(this.#separator)}]` : `[${members}]`;
  }

  #member(opened: number): string {
    if (this.#at >= this.#pattern.length) this.#refuse('does not close its bracket', opened);
    const first = this.#character();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== '-' || next === ']' || next === undefined) return quote(first);
    this.#at += 1;
    const last = this.#character();
    if ((last.codePointAt(0) ?? 0) < (first.codePointAt(0) ?? 0)) {
      this.#refuse(`has the range ${first}-${last}, which runs backwards`, opened);
    }
    return `${quote(first)}-${quote(last)}`;
  }

  /** Reads one character, the next one where this is a backslash. */
  #character(): string {
    if (this.#pattern[this.#at] === '\\') {
      this.#at += 1;
      if (this.#at >= this.#pattern.length) this.#refuse('ends with a backslash', this.#at - 1);
    }
    const point = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += point.length;
    return point;
  }

  #take(text: string): string {
    this.#at += 1;
    return text;
  }

  #refuse(reason: string, offset = this.#at): never {
    throw new GlobError(this.#pattern, reason, offset);
  }
}

/** Returns the RE2 text for these characters, inside and outside of a class. */
function quote(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}\-&~#/]/g, '\\$&');
}
