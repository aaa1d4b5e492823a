import { expect, it } from 'vitest';
import { Slots } from '../../../src/platform/cache/slots.ts';

it('slots contain what was added and not taken', () => {
  const slots = new Slots<{ readonly name: string }>();
  const [a, b] = ['a', 'b'].map((name) => slots.add({ name }));

  expect(slots.take(a ?? 0)).toEqual({ name: 'a' });

  expect(slots.size).toBe(1);
  expect([...slots]).toEqual([{ name: 'b' }]);
  expect(slots.take(b ?? 0)).toEqual({ name: 'b' });
  expect(slots.size).toBe(0);
});

it('a slot that was already taken returns nothing', () => {
  const slots = new Slots<{ readonly name: string }>();
  const slot = slots.add({ name: 'a' });
  slots.take(slot);

  expect(slots.take(slot)).toBeUndefined();

  expect(slots.size).toBe(0);
  expect([slots.add({ name: 'b' }), slots.add({ name: 'c' })]).toEqual([0, 1]);
});

it('a free slot is reused', () => {
  const slots = new Slots<{ readonly name: string }>();
  for (let at = 0; at < 1_000; at += 1) slots.take(slots.add({ name: String(at) }));

  expect(slots.add({ name: 'last' })).toBe(0);
});
