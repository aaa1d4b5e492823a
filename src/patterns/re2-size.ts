/** What one member of a Unicode group (`\pL`) counts as: hundreds of ranges, which the compiler copies. */
const groupSize = 20;

/**
 * Returns about how many instructions an RE2 pattern has once its counted repetitions are written out, without compiling
 * it: `(a{30}){30}` has 900, which takes milliseconds and not the second that a hundred times as many do. Never less than
 * there are in a valid pattern; of a broken one it says nothing.
 */
export function estimateRe2Size(pattern: string): number {
  return new SizeReader(pattern).read();
}

class SizeReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): number {
    // Groups that are open, each with the size of what was read in it so far.
    const open: number[] = [0];
    let last = 0;
    const add = (size: number): void => {
      open.push((open.pop() ?? 0) + last);
      last = size;
    };
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      const repeat = sign === '{' ? this.#repetition() : undefined;
      if (repeat !== undefined) last = repeat(last);
      else if (sign === '(') {
        add(0);
        open.push(0);
        this.#at += 1;
      } else if (sign === ')' && open.length > 1) {
        const inner = (open.pop() ?? 0) + last;
        last = inner + 3;
        this.#at += 1;
      } else if (sign === '*' || sign === '+' || sign === '?' || sign === '|') {
        // A loop around what may be empty has two instructions; so has a choice between something and nothing.
        last += sign === '*' || sign === '|' ? 2 : 1;
        this.#at += 1;
      } else add(this.#atom());
    }
    // Every program has one instruction that fails, one that matches, and one that does nothing where it is empty.
    return open.reduce((sum, size) => sum + size, last + 3);
  }

  /** Reads `{n}`, `{n,}` or `{n,m}`; undefined where a brace is only a brace. */
  #repetition(): ((size: number) => number) | undefined {
    const found = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#pattern.slice(this.#at, this.#at + 12));
    if (!found) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === '') return (size) => size * Math.max(1, least);
    // `{n,}` is n times and a loop; each time that may be left out has an instruction that leaves it out.
    const most = found[3] === '' ? least + 1 : Number(found[3]);
    return (size) => size * Math.max(1, least) + (size + 1) * Math.max(0, most - least);
  }

  #atom(): number {
    const sign = this.#pattern[this.#at];
    if (sign === '\\') return this.#escape();
    if (sign === '[') return this.#class();
    this.#at += 1;
    return 1;
  }

  #escape(): number {
    const name = this.#pattern[this.#at + 1];
    this.#at += 2;
    return name === 'p' || name === 'P' ? groupSize : 1;
  }

  #class(): number {
    const begin = this.#at;
    this.#at += 1;
    if (this.#pattern[this.#at] === '^') this.#at += 1;
    // A bracket that closes does not do so in the first place, nor behind a backslash, nor in [:word:].
    if (this.#pattern[this.#at] === ']') this.#at += 1;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']') {
      const posix = /^\[:\^?\w+:\]/.exec(this.#pattern.slice(this.#at, this.#at + 20));
      this.#at += posix ? posix[0].length : this.#pattern[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += 1;
    const groups = this.#pattern.slice(begin, this.#at).match(/\\[pP]/g)?.length ?? 0;
    return 1 + groups * groupSize;
  }
}
