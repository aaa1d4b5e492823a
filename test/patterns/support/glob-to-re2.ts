import { GlobError, type GlobOptions } from '../../../src/patterns/glob.ts';

/** Returns the RE2 text of a glob, anchored at both ends. Tests compare glob programs with this second translation. */
export function globToRe2(pattern: string, options: GlobOptions = {}): string {
  const separator = options.separator ?? '/';
  const segments = options.segments ?? separator === '/';
  return `^(?s:${new Translation(pattern, separator, segments).alternatives()})$`;
}

const maxDepth = 8;

class Translation {
  readonly #pattern: string;
  readonly #separator: string;
  readonly #segments: boolean;
  /** One character that is not a separator. */
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
    // A trailing `**` requires something below the folder: `docs/**` does not match `docs/`.
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== '/') return ends ? '.+' : '.*';
    this.#at += 1;
    return '(?:.*/)?';
  }

  #group(): string {
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

  /** Reads one character. After a backslash, reads the next one. */
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

/** Returns the RE2 text for these characters, inside and outside a class. */
function quote(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}\-&~#/]/g, '\\$&');
}
