/** Kinds of instructions in the program of a pattern. */
export const opcode = { fail: 0, match: 1, fork: 2, assert: 3, rune: 4 } as const;

/** Conditions that an `assert` checks at a position between two characters; several can be combined. */
export const assertion = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

/**
 * A compiled pattern: a nondeterministic automaton in flat arrays. It has no captures, which are not needed to decide
 * whether a text matches.
 */
export type Program = {
  readonly size: number;
  readonly start: number;
  readonly ops: Uint8Array;
  /** Index of the following instruction. */
  readonly next: Int32Array;
  /**
   * For a `fork`, the index of the second branch; for an `assert`, its conditions; for a `match` of several patterns,
   * the number of the pattern.
   */
  readonly other: Int32Array;
  /** Returns whether a `rune` instruction accepts a code point. */
  readonly accepts: (at: number, rune: number) => boolean;
  /**
   * Sorted code points at which character classes begin: no instruction distinguishes two code points that lie between
   * the same two entries.
   */
  readonly bounds: Int32Array;
  /** Whether the program has several patterns, each with a `match` instruction of its own. */
  readonly isOfSeveral?: true;
};

/** Sorted, disjoint ranges of code points: first, last, first, last, … */
type Ranges = readonly number[];

/** The syntax tree of a pattern. */
export type Node =
  | { readonly kind: 'runes'; readonly ranges: Ranges }
  | { readonly kind: 'sequence'; readonly of: readonly Node[] }
  | { readonly kind: 'choice'; readonly of: readonly Node[] }
  | { readonly kind: 'any-number'; readonly of: Node };

const maxRune = 0x10_ffff;

/** All code points. */
export const everyRune: Ranges = [0, maxRune];

/** Returns the code points outside these ranges. */
export function complementOf(ranges: Ranges): Ranges {
  const inverted: number[] = [];
  let from = 0;
  for (const [first, last] of merge(ranges)) {
    if (first > from) inverted.push(from, first - 1);
    from = last + 1;
  }
  if (from <= maxRune) inverted.push(from, maxRune);
  return inverted;
}

/** Returns the ranges sorted, with overlapping ranges merged. */
export function uniteRanges(ranges: Ranges): Ranges {
  return merge(ranges).flat();
}

function merge(ranges: Ranges): (readonly [number, number])[] {
  const pairs = Array.from({ length: ranges.length / 2 }, (_, place): [number, number] => [
    ranges[place * 2] ?? 0,
    ranges[place * 2 + 1] ?? 0,
  ]);
  pairs.sort(([left], [right]) => left - right);
  const merged: [number, number][] = [];
  for (const [first, last] of pairs) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** Returns a program that matches only entire texts. */
export function buildProgram(node: Node): Program {
  const builder = new ProgramBuilder();
  const match = builder.add(opcode.match, 0, 0);
  const end = builder.add(opcode.assert, match, assertion.endText);
  const body = builder.emit(node, end);
  return builder.build(builder.add(opcode.assert, body, assertion.beginText));
}

/**
 * Returns a program that tells which of several patterns match an entire text: the `match` instruction of each has the
 * place of its node in the list. Patterns share the instructions of a common beginning, so that many patterns that begin
 * with `**` need a single loop.
 */
export function buildProgramOfSeveral(nodes: readonly Node[]): Program {
  const builder = new ProgramBuilder();
  const emitFrom = (patterns: readonly Rest[], depth: number): number => {
    const byPiece = new Map<string, { readonly piece: Node; readonly rest: Rest[] }>();
    const ways: number[] = [];
    for (const pattern of patterns) {
      const piece = pattern.pieces[depth];
      if (piece === undefined) {
        const match = builder.add(opcode.match, 0, pattern.number);
        ways.push(builder.add(opcode.assert, match, assertion.endText));
        continue;
      }
      const key = pattern.keys[depth] ?? '';
      const alike = byPiece.get(key);
      if (alike) alike.rest.push(pattern);
      else byPiece.set(key, { piece, rest: [pattern] });
    }
    for (const { piece, rest } of byPiece.values()) ways.push(builder.emit(piece, emitFrom(rest, depth + 1)));
    const [first = 0, ...others] = ways;
    return others.reduce((chosen, way) => builder.add(opcode.fork, chosen, way), first);
  };
  const body = emitFrom(
    nodes.map((node, number) => {
      const pieces = piecesOf(node);
      return { pieces, keys: pieces.map((piece) => JSON.stringify(piece)), number };
    }),
    0,
  );
  return { ...builder.build(builder.add(opcode.assert, body, assertion.beginText)), isOfSeveral: true };
}

/** A pattern as the list of its pieces, each with a key that only equal pieces share. */
type Rest = { readonly pieces: readonly Node[]; readonly keys: readonly string[]; readonly number: number };

function piecesOf(node: Node): readonly Node[] {
  return node.kind === 'sequence' ? node.of.flatMap(piecesOf) : [node];
}

/** Emits instructions back to front, so that the successor of each instruction is known. */
class ProgramBuilder {
  readonly #ops: number[] = [opcode.fail];
  readonly #next: number[] = [0];
  readonly #other: number[] = [0];
  readonly #ranges: Ranges[] = [[]];

  add(op: number, next: number, other: number, ranges: Ranges = []): number {
    this.#ops.push(op);
    this.#next.push(next);
    this.#other.push(other);
    return this.#ranges.push(ranges) - 1;
  }

  /** Emits the instructions of a node and returns the first one; after the node, the program continues at `after`. */
  emit(node: Node, after: number): number {
    switch (node.kind) {
      case 'runes':
        return this.add(opcode.rune, after, 0, node.ranges);
      case 'sequence':
        return node.of.reduceRight((next, part) => this.emit(part, next), after);
      case 'choice': {
        const [first, ...rest] = node.of.map((part) => this.emit(part, after));
        return rest.reduce((chosen, way) => this.add(opcode.fork, chosen, way), first ?? after);
      }
      case 'any-number': {
        const fork = this.add(opcode.fork, 0, after);
        this.#next[fork] = this.emit(node.of, fork);
        return fork;
      }
    }
  }

  build(start: number): Program {
    const ranges = this.#ranges;
    return {
      size: this.#ops.length,
      start,
      ops: Uint8Array.from(this.#ops),
      next: Int32Array.from(this.#next),
      other: Int32Array.from(this.#other),
      accepts: (at, rune) => isIn(ranges[at] ?? [], rune),
      bounds: boundsOf(ranges),
    };
  }
}

function isIn(ranges: Ranges, rune: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (rune < (ranges[at] ?? 0)) return false;
    if (rune <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}

function boundsOf(all: readonly Ranges[]): Int32Array {
  const bounds = new Set(
    all.flatMap((ranges) => ranges.map((rune, place) => (place % 2 === 0 ? rune : rune + 1))),
  );
  bounds.delete(0);
  bounds.delete(maxRune + 1);
  return Int32Array.from(bounds).sort();
}
