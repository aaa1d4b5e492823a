import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/platform/cache/bounded-map.ts';

describe('a bounded map', () => {
  it('removes the oldest entry beyond its limit, and returns it', () => {
    const map = new BoundedMap<string, number>(2);

    expect([map.put('a', 1), map.put('b', 2), map.put('c', 3)]).toEqual([undefined, undefined, ['a', 1]]);
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('keeps an entry that was set again longer than one that was only read', () => {
    const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2);
    map.set('a', 3);
    map.get('b');
    map.has('b');

    map.set('c', 4);

    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('keeps the last entries that were set and not deleted, whatever the order', () => {
    const step = fc.record({ key: fc.integer({ min: 0, max: 9 }), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step), (limit, steps) => {
        const map = new BoundedMap<number, number>(limit);
        let expected: (readonly [number, number])[] = [];
        for (const [index, { key, isSet }] of steps.entries()) {
          expected = expected.filter(([known]) => known !== key);
          if (isSet) expected = [...expected, [key, index] as const].slice(-limit);
          if (isSet) map.set(key, index);
          else map.delete(key);
        }

        expect([...map]).toEqual(expected);
      }),
    );
  });
});
