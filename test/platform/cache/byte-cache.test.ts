import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteCache } from '../../../src/platform/cache/caches.ts';

/** Bytes that an entry takes in addition to its value and its key. */
const entryBytes = 128;
/** Room for `count` values of 1,000 bytes under keys of one character. */
const roomFor = (count: number): number => count * (1_000 + 2 + entryBytes);

describe('a cache bounded in bytes', () => {
  it('removes the entry that was read least recently', () => {
    const cache = createByteCache<string>(roomFor(10));
    for (const key of 'abcdefghij') cache.set(key, key, 1_000);
    cache.get('a');

    cache.set('k', 'k', 1_000);

    expect([...'abck'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c', 'k']);
  });

  it('does not store a value that takes an eighth of the cache, and drops the previous value of its key', () => {
    const cache = createByteCache<string>(roomFor(10));
    cache.set('a', 'small', 1_000);
    cache.set('a', 'large', 2_000);

    expect(cache.get('a')).toBeUndefined();
  });

  it('counts a value once if it is set again', () => {
    const cache = createByteCache<number>(roomFor(10));
    cache.set('a', 0, 1_000);
    for (let at = 0; at < 100; at += 1) cache.set('b', at, 1_000);

    expect([cache.get('a'), cache.get('b')]).toEqual([0, 99]);
  });

  it('never exceeds its limit, and keeps the last value that fits, whatever the order', () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom(...'abcdefghijklmnop'), fc.integer({ min: 0, max: 900 })),
    );
    fc.assert(
      fc.property(steps, (given) => {
        const maxBytes = 8_000;
        const cache = createByteCache<number>(maxBytes);
        for (const [key, bytes] of given) {
          cache.set(key, bytes, bytes);
          const fits = bytes + 2 + entryBytes <= maxBytes / 8;
          expect(cache.get(key)).toBe(fits ? bytes : undefined);
        }
        const held = [...'abcdefghijklmnop'].flatMap((key) => cache.get(key) ?? []);
        expect(held.reduce((sum, bytes) => sum + bytes + 2 + entryBytes, 0)).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});
