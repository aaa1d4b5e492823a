import { GlobError } from './glob-error.ts';
import { complementOf, everyRune, type Node, uniteRanges } from './program-builder.ts';

const maxDepth = 8;
const empty: Node = { kind: 'sequence', of: [] };

/**
 * Returns what a glob consists of: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}` (nestable) and `\`. Braces are choices and
 * are never multiplied out, so the program stays as long as the pattern. Throws GlobError where the pattern is broken.
 */
export function parseGlob(pattern: string, separator: string, segments: boolean): Node {
  return new GlobParser(pattern, separator, segments).alternatives();
}

/** One pass over a pattern, from left to right. */
class GlobParser {
  readonly #pattern: string;
  readonly #segments: boolean;
  readonly #separators: readonly number[];
  /** One character that is no separator. */
  readonly #one: Node;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, separator: string, segments: boolean) {
    this.#pattern = pattern;
    this.#segments = segments;
    this.#separators = [...separator].flatMap((sign) => runeRange(sign));
    this.#one = { kind: 'runes', ranges: complementOf(this.#separators) };
  }

  /** Reads alternatives up to the end of the pattern, or up to the brace that closes the current group. */
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
    // A trailing `**` wants something below: `docs/**` is not `docs/`.
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== '/') return ends ? { kind: 'sequence', of: [any, text] } : text;
    this.#at += 1;
    const folders: Node = { kind: 'sequence', of: [text, { kind: 'runes', ranges: runeRange('/') }] };
    return { kind: 'choice', of: [folders, empty] };
  }

  #group(): Node {
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

  #refuse(reason: string, offset = this.#at): never {
    throw new GlobError(this.#pattern, reason, offset);
  }
}

function runeRange(sign: string): [number, number] {
  const rune = sign.codePointAt(0) ?? 0;
  return [rune, rune];
}
