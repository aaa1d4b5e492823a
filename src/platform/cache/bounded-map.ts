/**
 * A map of at most `maxEntries` entries. Setting an entry makes it the newest; beyond the limit the oldest entry is
 * removed. Reading an entry does not make it newer. Entries do not expire: callers that need expiry store a time in the
 * value.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: Key, value: Value): this {
    this.put(key, value);
    return this;
  }

  /** Sets an entry and returns the entry evicted for it, if any. */
  put(key: Key, value: Value): readonly [Key, Value] | undefined {
    this.delete(key);
    super.set(key, value);
    if (this.size <= this.#maxEntries) return undefined;
    const [oldest] = this;
    if (oldest !== undefined) this.delete(oldest[0]);
    return oldest;
  }
}
