import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { createByteCache } from '../../../platform/cache/caches.ts';
import type { GitObject, ObjectReader } from './objects.ts';

/** Cached data of one repository. */
export interface RepositoryCache {
  /** Returns the value last stored under a key; the caller must know whether it is still valid. */
  get<Value extends object>(key: string): Value | undefined;
  set<Value extends object>(key: string, value: Value, bytes: number): void;
  /**
   * Returns the value stored under a key. If there is none, reads it and stores it with its size in bytes. The value
   * must depend only on the key, as data derived from full object ids does. A failed read stores nothing.
   */
  remember<Value extends object>(
    key: string,
    read: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ): Promise<Value>;
  /** Removes cached objects, because git may have removed some of them. */
  forgetObjects(): void;
}

/** Cache of objects and derived data, for all repositories of a forge, within one memory limit. */
export interface GitCache {
  of(id: number): RepositoryCache;
  /** Returns a reader that reads through the cache. */
  readThrough(id: number, reader: ObjectReader): ObjectReader;
  /** Removes the cached data of a repository. */
  forget(id: number): void;
}

/**
 * Maximum size of cached objects. Larger objects are read each time: caching them costs more memory than it saves time.
 */
const maxObjectBytes = 64 * 1024;

/**
 * Creates the cache. Every key includes the id of the repository, so that an object crafted to have the id of another
 * object is visible only in its own repository.
 */
export function createGitCache({
  objectBytes = 12 * 1024 * 1024,
  derivedBytes = 8 * 1024 * 1024,
} = {}): GitCache {
  const objects = createByteCache<Partial<GitObject> & Omit<GitObject, 'content'>>(objectBytes);
  // Each key holds values of one type, created by a single function.
  const derived = createByteCache<object>(derivedBytes);
  const [ofObjects, ofDerived] = [createGenerations(), createGenerations()];
  return {
    of: (id) => ({
      get: <Value extends object>(key: string) =>
        derived.get(`${ofDerived.get(id)} ${key}`) as Value | undefined,
      set: (key, value, bytes) => derived.set(`${ofDerived.get(id)} ${key}`, value, bytes),
      forgetObjects: () => ofObjects.end(id),
      async remember<Value extends object>(
        key: string,
        read: () => Promise<Value>,
        bytesOf: (value: Value) => number,
      ) {
        const place = `${ofDerived.get(id)} ${key}`;
        const known = derived.get(place);
        if (known !== undefined) return known as Value;
        const value = await read();
        derived.set(place, value, bytesOf(value));
        return value;
      },
    }),
    readThrough: (id, reader) => ({
      async info(name) {
        const place = `${ofObjects.get(id)} ${name}`;
        const known = objects.get(place);
        if (known !== undefined) return known;
        const info = await reader.info(name);
        // Other fields of the reader's result are dropped, because cached `content` marks an object that was read.
        if (info && isFixed(name, info.id)) {
          objects.set(place, { id: info.id, type: info.type, size: info.size }, 0);
        }
        return info;
      },
      async read(name) {
        const place = `${ofObjects.get(id)} ${name}`;
        const known = objects.get(place);
        if (known?.content !== undefined) return { ...known, content: known.content };
        const object = await reader.read(name);
        if (object && object.size <= maxObjectBytes && isFixed(name, object.id)) {
          objects.set(place, object, object.size);
        }
        return object;
      },
    }),
    forget(id) {
      ofObjects.end(id);
      ofDerived.end(id);
    },
  };
}

/**
 * Creates the generations of each repository, used as key prefixes. Entries of an ended generation are no longer found,
 * and are evicted as the oldest.
 */
function createGenerations(): { get(id: number): number; end(id: number): void } {
  const current = new BoundedMap<number, number>(100_000);
  let last = 0;
  return {
    get(id) {
      const known = current.get(id);
      if (known !== undefined) return known;
      last += 1;
      current.set(id, last);
      return last;
    },
    end(id) {
      current.delete(id);
    },
  };
}

/**
 * Returns whether a name always refers to the same object, as a full id does. A text with the length of an id in the
 * other object format may be a ref.
 */
function isFixed(name: string, id: string): boolean {
  const whole = /^([0-9a-f]+)(?:\^\{(?:tree|commit)\})?$/.exec(name)?.[1];
  return whole !== undefined && whole.length === id.length;
}
