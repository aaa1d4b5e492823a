/**
 * Collection of short-lived items of deliveries, in reusable slots.
 *
 * Not a Set or a Map: with frequent additions and deletions it is rehashed to a new table again and again, and V8 lets
 * each old table point to the next one. Once the garbage collector promotes one of these tables to the old generation,
 * it retains the following ones too, with everything that their items reference, until its next full run.
 */
export class Slots<Item extends object> {
  readonly #items: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Adds an item and returns its slot. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    return slot;
  }

  /** Returns the item in a slot, and removes it. */
  take(slot: number): Item | undefined {
    const item = this.#items[slot];
    if (item === undefined) return undefined;
    this.#items[slot] = undefined;
    this.#free.push(slot);
    return item;
  }

  /** Yields all items, in no particular order. */
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}
