/** Kinds of instructions of a pattern's program. */
export const opcode = { fail: 0, match: 1, fork: 2, assert: 3, rune: 4 } as const;

/** What an `assert` may ask of the place between two characters; several may be asked at once. */
export const assertion = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

/**
 * A compiled pattern: a nondeterministic automaton in flat arrays. An automaton without captures is all that is needed to
 * say whether a text matches.
 */
export type Program = {
  readonly size: number;
  readonly start: number;
  readonly ops: Uint8Array;
  /** Where the instruction continues. */
  readonly next: Int32Array;
  /** The second way of a `fork`; what an `assert` asks. */
  readonly other: Int32Array;
  /** Returns whether a `rune` instruction takes a code point. */
  readonly accepts: (at: number, rune: number) => boolean;
  /** Sorted code points; no instruction tells apart two code points between neighbours of this list. */
  readonly bounds: Int32Array;
};
