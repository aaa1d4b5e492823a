import { expect, it } from 'vitest';
import { DedupeTable } from '../../../src/store/sqlite/accept.ts';

it.each<[string, (row: number) => number]>([
  ['that follow each other', (row) => row - 1],
  ['that differ in their upper half alone', (row) => row * 2 ** 32],
  ['at the end of the range', (row) => Number.MAX_SAFE_INTEGER - row],
  ['that are spread', (row) => (row * 0x9e3779b97f4a7) % 2 ** 53],
])('keeps the newest marks %s, and drops the oldest', (_title, markOf) => {
  const table = new DedupeTable(100);
  for (let row = 1; row <= 1_000; row += 1) {
    expect(table.find(markOf(row))).toBeUndefined();
    table.add(markOf(row), row);
    if (row % 50 !== 0) continue;
    for (let kept = Math.max(row - 99, 1); kept <= row; kept += 1)
      expect(table.find(markOf(kept))).toBe(kept);
    for (let gone = 1; gone <= row - 200; gone += 1) expect(table.find(markOf(gone))).toBeUndefined();
  }
});

it('returns the last row of a mark, which takes the place of one', () => {
  const table = new DedupeTable(10);
  for (let mark = 1; mark <= 10; mark += 1) table.add(mark, mark);
  for (let row = 11; row <= 30; row += 1) table.add(7, row);

  expect(table.find(7)).toBe(30);
  expect([1, 6, 8, 10].map((mark) => table.find(mark))).toEqual([1, 6, 8, 10]);
  expect(new DedupeTable(0).find(1)).toBeUndefined();
});
