/**
 * Items that come and go with each delivery, in slots that are used again.
 *
 * Not a Set or a Map: one that items are added to and deleted from moves to a new table again and again, and V8 lets each old table
 * point to the next one. Once the garbage collector takes one of these tables for long-lived, it keeps the following ones too, with
 * all that their items refer to, until its next full run.
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

  /** Yields all items, in no order. */
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}
