import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DigestTable } from '../../../src/store/sqlite/repeats.ts';

const digestOf = (content: number): Buffer => createHash('sha256').update(String(content)).digest();

it('finds what a map finds, also where two digests begin alike, over every growth', () => {
  const step = fc.record({
    content: fc.integer({ min: 1, max: 300 }),
    /** Digests that share their first four bytes look the same to the table. */
    alike: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.nat(50), (steps, pruned) => {
      const table = new DigestTable(() => pruned, 8);
      const contents = new Map<number, Buffer>();
      const model = new Map<string, number>();
      for (const [at, { content, alike }] of steps.entries()) {
        const row = at + 1;
        const digest = digestOf(content);
        if (alike) digest.fill(7, 0, 4);
        contents.set(row, digest);
        const found = table.find(
          digest,
          (one) => one >= pruned && contents.get(one)?.equals(digest) === true,
        );
        const known = model.get(digest.toString('hex'));
        expect(found).toBe(known !== undefined && known >= pruned ? known : undefined);
        if (found === undefined) {
          table.add(digest, row);
          model.set(digest.toString('hex'), row);
        } else if (content % 3 === 0) {
          table.replace(digest, found, row);
          model.set(digest.toString('hex'), row);
        }
      }
    }),
    { numRuns: process.env.LONG ? 5_000 : 200 },
  );
});

it('takes no more memory for rows that are gone', () => {
  let oldest = 0;
  const table = new DigestTable(() => oldest, 1_024);
  for (let row = 1; row <= 50_000; row += 1) {
    table.add(digestOf(row), row);
    oldest = row - 300;
  }

  expect(table.find(digestOf(49_999), (row) => row === 49_999)).toBe(49_999);
  expect(table.capacity).toBe(1_024);
});

it.each([
  [359, 2_048],
  [358, 1_024],
])('of 1,024 places that are filled to seven tenths, %i rows that still exist leave %i', (live, capacity) => {
  const table = new DigestTable(() => 717 - live + 1);
  for (let row = 1; row <= 717; row += 1) table.add(digestOf(row), row);
  expect(table.capacity).toBe(1_024);

  table.add(digestOf(718), 718);

  expect(table.capacity).toBe(capacity);
  const found = Array.from({ length: 718 }, (_, index) =>
    table.find(digestOf(index + 1), (row) => row === index + 1),
  );
  expect(found.flatMap((row) => row ?? [])).toEqual(
    Array.from({ length: live + 1 }, (_, index) => 718 - live + index),
  );
});

it('a row is found from the first of its places, and not after it was replaced', () => {
  const table = new DigestTable(() => 0, 8);
  const digest = digestOf(1);
  for (const row of [1, 2, 3]) table.add(digest, row);
  const found = (): number[] => {
    const rows: number[] = [];
    table.find(digest, (row) => {
      rows.push(row);
      return false;
    });
    return rows;
  };

  expect(found()).toEqual([1, 2, 3]);
  table.replace(digest, 2, 7);
  table.replace(digest, 99, 8);
  table.replace(digestOf(2), 1, 9);
  expect(found()).toEqual([1, 7, 3]);
  expect(table.find(digest, (row) => row > 1)).toBe(7);
});
