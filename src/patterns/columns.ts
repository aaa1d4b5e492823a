import type { Program } from './program.ts';

/** Columns for classes of code points beyond U+00FF. */
const maxFarColumns = 64;

/**
 * Maps code points to columns of a transition table. A program tells code points apart by classes, of which a Unicode
 * group has a thousand and a text few. Classes up to U+00FF have columns of their own; those beyond get one when a text
 * has a character of them.
 */
export class Columns {
  /** Number of columns, without one for the end of the text. */
  readonly count: number;
  /** Columns of the code points up to U+00FF. */
  readonly latin = new Uint16Array(256);
  /** The column of all code points beyond U+00FF; undefined where the program tells them apart. */
  readonly onlyFar: number | undefined;
  readonly #bounds: Int32Array;
  readonly #near: number;
  /** Columns of the classes beyond U+00FF, 0 for none; undefined where all of them have the column of their number. */
  readonly #far: Uint16Array | undefined;
  #assigned = 0;

  constructor({ bounds }: Program) {
    this.#bounds = bounds;
    for (let rune = 0; rune < 256; rune += 1) this.latin[rune] = this.#classOf(rune);
    this.#near = this.#classOf(255) + 1;
    const far = bounds.length + 1 - this.#near;
    this.onlyFar = far === 0 ? this.#near - 1 : far === 1 && bounds.at(-1) === 256 ? this.#near : undefined;
    this.#far = far > maxFarColumns ? new Uint16Array(far) : undefined;
    this.count = this.#near + Math.min(far, maxFarColumns);
  }

  /** Whether some class has a column that it did not have at the beginning. */
  get hasAssigned(): boolean {
    return this.#assigned > 0;
  }

  /** Returns the column of a code point beyond U+00FF; undefined where its class has none and none is left. */
  find(rune: number): number | undefined {
    const found = this.#classOf(rune);
    // The last class of those up to U+00FF may reach beyond it.
    if (this.#far === undefined || found < this.#near) return found;
    const place = found - this.#near;
    const known = this.#far[place] ?? 0;
    if (known !== 0) return known;
    if (this.#assigned === maxFarColumns) return undefined;
    const column = this.#near + this.#assigned;
    this.#far[place] = column;
    this.#assigned += 1;
    return column;
  }

  /** Takes the columns of all classes beyond U+00FF back. */
  reset(): void {
    if (this.#assigned === 0) return;
    this.#far?.fill(0);
    this.#assigned = 0;
  }

  /** Returns the class of a code point: how many bounds are at or below it. */
  #classOf(rune: number): number {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] ?? 0) <= rune) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
