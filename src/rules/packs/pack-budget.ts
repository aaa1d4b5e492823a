import { maxIncludes, maxRules } from '../files/grammar.ts';

/** Characters that the packs of a file may have together. */
const maxPackCharacters = 256 * 1024;

/** Counts what a file comes to with its packs, so that packs within packs cannot grow without bounds. */
export class PackBudget {
  rules = 0;
  #includes = 0;
  #characters = 0;

  countRules(count: number): void {
    this.rules += count;
  }

  /** Counts a pack. Returns why it is too much, or undefined. */
  countPack(text: string | Uint8Array): string | undefined {
    this.#includes += 1;
    this.#characters += text.length;
    if (this.#includes > maxIncludes)
      return `a file includes at most ${maxIncludes} packs, with those of its packs`;
    if (this.#characters > maxPackCharacters) return 'the packs of a file have at most 256 KiB together';
    if (this.rules > maxRules) return tooManyRules;
    return undefined;
  }

  /** Returns why the rules counted so far are too many, or undefined. */
  problemOfRules(): string | undefined {
    return this.rules > maxRules ? tooManyRules : undefined;
  }
}

const tooManyRules = `a file has at most ${maxRules} rules, with those of its packs`;
