import { beforeEach, expect, it } from 'vitest';
import { type BufferPool, createBufferPool, release } from '../../../src/server/receiver/body.ts';

let pool: BufferPool;
beforeEach(() => {
  pool = createBufferPool();
});
const take = (bytes: number): Buffer => pool.enlarge(undefined, 0, bytes);

it.each([
  [1, 16_384],
  [16_384, 16_384],
  [16_385, 65_536],
  [65_537, 262_144],
  [262_144, 262_144],
  [262_145, 262_145],
])('a buffer for %i bytes has %i bytes', (bytes, size) => {
  expect(take(bytes).length).toBe(size);
});

it('a returned buffer is reused, by one owner at a time', () => {
  const [one, other] = [take(100), take(20_000)];
  pool.give(one);
  pool.give(other);

  const again = [take(16_384), take(1), take(17_000)];

  expect(again.map((buffer) => buffer === one)).toEqual([true, false, false]);
  expect(again[2] === other).toBe(true);
});

it('a larger buffer starts with the used bytes, and the smaller buffer is free again', () => {
  const small = take(10);
  small.write('0123456789');

  const larger = pool.enlarge(small, 4, 20_000);

  expect(larger.length).toBe(65_536);
  expect(larger.toString('latin1', 0, 4)).toBe('0123');
  expect(take(10) === small).toBe(true);
});

it('keeps at most 4 MiB of each size', () => {
  const buffers = Array.from({ length: 17 }, () => take(262_144));
  for (const buffer of buffers) pool.give(buffer);

  const again = Array.from({ length: 17 }, () => take(262_144));

  expect(again.filter((buffer) => buffers.includes(buffer))).toHaveLength(16);
});

it('frees the memory of a buffer of another size at once, but never memory that others use', () => {
  const large = take(300_000);
  const whole = Buffer.allocUnsafeSlow(1_000);
  const view = whole.subarray(0, 999);

  pool.give(large);
  release(view);
  expect([large.length, whole.length]).toEqual([0, 1_000]);
  release(whole);
  expect(whole.length).toBe(0);
});
