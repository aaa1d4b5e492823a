import type { MonotonicClock } from '../clock.ts';
import { BoundedMap } from './bounded-map.ts';

/** A cache whose entries expire; concurrent reads of one key share one load. */
interface TtlCache<Key, Value> {
  /** Returns the entry of the key, or loads it. A failed load is removed, so the next read loads again. */
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
  clock: MonotonicClock;
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

/** A memoized async call. */
type Memoized<T> = {
  (): Promise<T>;
  /** Removes the value, so the next call loads again. */
  forget(): void;
};

/** Memoizes an async call, for `maxAgeMs` if given. A failed call is not memoized; the next one calls again. */
export function memoize<T>(
  ask: () => Promise<T>,
  {
    maxAgeMs = Number.POSITIVE_INFINITY,
    clock = { monotonicMs: () => 0 },
  }: { maxAgeMs?: number; clock?: MonotonicClock } = {},
): Memoized<T> {
  let known: { readonly answer: Promise<T>; readonly atMs: number } | undefined;
  const memoized = (): Promise<T> => {
    if (known !== undefined && clock.monotonicMs() - known.atMs <= maxAgeMs) return known.answer;
    const asked = { answer: ask(), atMs: clock.monotonicMs() };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.answer;
  };
  return Object.assign(memoized, {
    forget() {
      known = undefined;
    },
  });
}

/** LRU cache of values that can be recomputed, bounded by bytes. */
interface ByteCache<Value> {
  get(key: string): Value | undefined;
  /**
   * Stores a value of about `bytes` in memory. A value that would take more than an eighth of the cache is not stored.
   */
  set(key: string, value: Value, bytes: number): void;
}

/** Bytes of an entry in addition to its value and its key (two bytes per character): the map's own overhead. */
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
