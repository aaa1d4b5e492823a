import { beforeEach, describe, expect, it } from 'vitest';
import type { BudgetedBody } from '../../src/receiver/arriving-bodies.ts';
import { type BodyBudget, createBodyBudget } from '../../src/receiver/body-budget.ts';

const kiB = 1024;
const miB = 1024 * kiB;

let nowMs = 0;
let budget: BodyBudget;
beforeEach(() => {
  nowMs = 0;
  budget = createBodyBudget({ maxBytes: 32 * miB, clock: { monotonicMs: () => nowMs } });
});

/** A body that notes what is asked of it. */
type TestBody = BudgetedBody & { readonly calls: string[] };

function makeBody(address: string): TestBody {
  const calls: string[] = [];
  const body: TestBody = {
    address,
    calls,
    resume: () => calls.push('resumed'),
    drop: () => {
      calls.push('dropped');
      budget.release(body);
    },
  };
  return body;
}

/** Opens bodies that each hold so many bytes. */
function open(count: number, bytes: number, addressOf = (at: number) => `10.0.0.${at}`): TestBody[] {
  const bodies = Array.from({ length: count }, (_, at) => makeBody(addressOf(at)));
  for (const body of bodies) expect(budget.grow(body, bytes)).toBe('granted');
  return bodies;
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 150));

describe('a small body', () => {
  it('is granted although large bodies hold the whole budget', () => {
    open(4, 8 * miB);

    expect(budget.grow(makeBody('10.0.0.9'), 256 * kiB)).toBe('granted');
  });

  it('drops the one open longest where small bodies alone exceed the budget', () => {
    const bodies = open(128, 256 * kiB);
    const [first, second] = bodies;

    expect(budget.grow(makeBody('10.0.0.9'), 256 * kiB)).toBe('granted');

    expect(first?.calls).toEqual(['dropped']);
    expect(second?.calls).toEqual([]);
  });

  it('is not dropped once it has arrived', () => {
    const [first, second] = open(128, 256 * kiB);
    if (first) budget.complete(first);

    budget.grow(makeBody('10.0.0.9'), 256 * kiB);

    expect([first?.calls, second?.calls]).toEqual([[], ['dropped']]);
  });
});

describe('a large body beyond the budget', () => {
  it('waits while no other is slow, and goes on when one is released', async () => {
    const [first] = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');

    expect(budget.grow(late, 8 * miB)).toBe('waits');
    await settle();
    expect(late.calls).toEqual([]);
    if (first) budget.release(first);
    await settle();

    expect(late.calls).toEqual(['resumed']);
  });

  it('takes the place of the largest slow body', () => {
    const [first] = open(1, 8 * miB);
    const [large] = open(1, 16 * miB, () => '10.0.1.1');
    open(1, 8 * miB, () => '10.0.1.2');
    nowMs = 1_001;

    expect(budget.grow(makeBody('10.0.0.9'), 8 * miB)).toBe('granted');

    expect(large?.calls).toEqual(['dropped']);
    expect(first?.calls).toEqual([]);
  });

  it('takes that place also when the others become slow while it waits', async () => {
    const bodies = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');
    expect(budget.grow(late, 8 * miB)).toBe('waits');

    nowMs = 1_001;
    await settle();

    expect(late.calls).toEqual(['resumed']);
    expect(bodies.flatMap(({ calls }) => calls)).toEqual(['dropped']);
  });

  it('never takes the place of one that has arrived', async () => {
    const bodies = open(4, 8 * miB);
    for (const body of bodies) budget.complete(body);
    nowMs = 10_000;
    const late = makeBody('10.0.0.9');

    expect(budget.grow(late, 8 * miB)).toBe('waits');
    await settle();

    expect(bodies.flatMap(({ calls }) => calls)).toEqual([]);
  });

  it('does not become slow by waiting', async () => {
    const bodies = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');
    budget.grow(late, 512 * kiB);
    for (const body of bodies) budget.complete(body);
    nowMs = 5_000;
    await settle();
    for (const body of bodies) budget.release(body);
    await settle();
    open(3, 8 * miB, (at) => `10.0.2.${at}`);

    expect(budget.grow(makeBody('10.0.2.9'), 8 * miB)).toBe('waits');
    expect(late.calls).toEqual(['resumed']);
  });

  it('is read to its end where all others wait too', () => {
    const bodies = open(4, 8 * miB);
    const growths = bodies.map((body) => budget.grow(body, 9 * miB));

    expect(growths).toEqual(['waits', 'waits', 'waits', 'granted']);
  });
});

describe('one address', () => {
  it('holds at most half of the budget', () => {
    open(2, 8 * miB, () => '10.0.0.1');

    expect(budget.grow(makeBody('10.0.0.1'), 8 * miB)).toBe('waits');
    expect(budget.grow(makeBody('10.0.0.2'), 8 * miB)).toBe('granted');
  });

  it('makes room of its own bodies first', () => {
    const [own] = open(2, 8 * miB, () => '10.0.0.1');
    const [other] = open(1, 9 * miB, () => '10.0.0.2');
    nowMs = 1_001;

    expect(budget.grow(makeBody('10.0.0.1'), 8 * miB)).toBe('granted');
    expect([own?.calls, other?.calls]).toEqual([['dropped'], []]);
  });
});
