/**
 * A bounded table from marks to the last stored row with this mark. It may return a false positive (two values with one
 * mark), so a hit is compared with the stored row. It removes the oldest marks, never a recent one.
 *
 * Two generations of open addressing in typed arrays: when the younger is full, the older is dropped. That needs no
 * deletion, no garbage collection and 16 bytes per mark, while a UNIQUE index would cost a third of the receiver's throughput.
 */
export class DedupeTable {
  readonly #capacity: number;
  #young: Generation;
  #old: Generation;

  /** The newest `capacity` marks are always kept; at most twice as many are kept. */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#young = createGeneration(capacity);
    this.#old = createGeneration(0);
  }

  /** Returns the last row with the mark. */
  find(mark: number): number | undefined {
    return readSlot(this.#young, mark) ?? readSlot(this.#old, mark);
  }

  /** Adds the mark of a row. `mark` is a non-negative safe integer, `row` a positive one. */
  add(mark: number, row: number): void {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = createGeneration(this.#capacity);
    }
    writeSlot(this.#young, mark, row);
  }
}

type Generation = { readonly marks: Float64Array; readonly rows: Float64Array; size: number };

function createGeneration(capacity: number): Generation {
  // At most half full, a power of two: probes stay short and the remainder is a mask.
  const slots = 2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2));
  return { marks: new Float64Array(slots), rows: new Float64Array(slots), size: 0 };
}

function slotOf(generation: Generation, mark: number): number {
  const mask = generation.rows.length - 1;
  // Both halves of the 53 bits are hashed by multiplication, so that consecutive marks are distributed.
  let slot = Math.imul((mark % 4294967296) ^ (mark / 4294967296), 2654435761) >>> 0;
  slot = (slot ^ (slot >>> 15)) & mask;
  while (generation.rows[slot] !== 0 && generation.marks[slot] !== mark) slot = (slot + 1) & mask;
  return slot;
}

function readSlot(generation: Generation, mark: number): number | undefined {
  return generation.rows[slotOf(generation, mark)] || undefined;
}

function writeSlot(generation: Generation, mark: number, row: number): void {
  const slot = slotOf(generation, mark);
  if (generation.rows[slot] === 0) generation.size += 1;
  generation.marks[slot] = mark;
  generation.rows[slot] = row;
}
