/** Keeps values that can be made again; beyond its bytes it removes those that were not read for longest. */
export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  /** Stores a value that takes about `bytes` in memory. One that would take an eighth of the cache is not stored. */
  set(key: string, value: Value, bytes: number): void;
}

/** What an entry takes beside its value: the map's own memory, and the key with two bytes a character. */
const entryBytes = 128;

/** Creates an empty cache of `maxBytes`. */
export function createByteCache<Value>(maxBytes: number): ByteCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let held = 0;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    held -= entry.bytes;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, valueBytes) {
      const bytes = valueBytes + key.length * 2 + entryBytes;
      remove(key);
      if (bytes > maxBytes / 8) return;
      entries.set(key, { value, bytes });
      held += bytes;
      for (const oldest of entries.keys()) {
        if (held <= maxBytes) return;
        remove(oldest);
      }
    },
  };
}
