import type { Clock } from '../clock.ts';
import { BoundedMap } from './bounded-map.ts';

/** A cache whose entries expire; concurrent reads of one key share one load. */
interface TtlCache<Key, Value> {
  /** Returns the entry of the key, or loads it. A failed load is removed: the next read loads again. */
  get(key: Key, read: () => Promise<Value>): Promise<Value>;
  delete(key: Key): void;
  /** Removes entries whose value matches. Entries still loading are removed as well. */
  deleteWhere(matches: (value: Value) => boolean): void;
}

type CacheEntry<Value> = { readonly reading: Promise<Value>; readonly atMs: number; value?: Value };

/** Creates an empty cache. Beyond `maxEntries` the oldest entry is removed. */
export function createTtlCache<Key, Value>(options: {
  maxAgeMs: number;
  maxEntries: number;
  clock: Pick<Clock, 'monotonicMs'>;
}): TtlCache<Key, Value> {
  const entries = new BoundedMap<Key, CacheEntry<Value>>(options.maxEntries);
  return {
    get(key, read) {
      const known = entries.get(key);
      if (known && options.clock.monotonicMs() - known.atMs <= options.maxAgeMs) return known.reading;
      const entry: CacheEntry<Value> = { reading: read(), atMs: options.clock.monotonicMs() };
      entries.set(key, entry);
      entry.reading.then(
        (value) => {
          entry.value = value;
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key);
        },
      );
      return entry.reading;
    },
    delete(key) {
      entries.delete(key);
    },
    deleteWhere(matches) {
      for (const [key, { value }] of entries) if (value === undefined || matches(value)) entries.delete(key);
    },
  };
}
