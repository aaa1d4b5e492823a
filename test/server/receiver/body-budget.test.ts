import { beforeEach, describe, expect, it } from 'vitest';
import { type BodyBudget, type BudgetedBody, createBodyBudget } from '../../../src/server/receiver/body.ts';

const kiB = 1024;
const miB = 1024 * kiB;

/** Time of the clock when the first body arrives. */
const startMs = 50_000;
let nowMs = startMs;
let budget: BodyBudget;
beforeEach(() => {
  nowMs = startMs;
  budget = createBodyBudget({ maxBytes: 32 * miB, clock: { monotonicMs: () => nowMs } });
});

/** Body that records the calls it receives. */
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

/** Opens bodies that each hold this many bytes. */
function open(count: number, bytes: number, addressOf = (at: number) => `10.0.0.${at}`): TestBody[] {
  const bodies = Array.from({ length: count }, (_, at) => makeBody(addressOf(at)));
  for (const body of bodies) expect(budget.grow(body, bytes)).toBe('granted');
  return bodies;
}

/** Waits until the next regular check for bodies that have become slow. */
const settle = async () => {
  await new Promise((resolve) => setTimeout(resolve, 150));
  await released();
};
/** Waits until released memory is granted to waiting bodies. */
const released = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a small body', () => {
  it('is granted memory even if large bodies hold the whole budget', () => {
    open(4, 8 * miB);

    expect(budget.grow(makeBody('10.0.0.9'), 256 * kiB)).toBe('granted');
  });

  it('drops the oldest open body if small bodies alone exceed the budget', () => {
    const bodies = open(128, 256 * kiB);
    const [first, second] = bodies;

    expect(budget.grow(makeBody('10.0.0.9'), 256 * kiB)).toBe('granted');

    expect(first?.calls).toEqual(['dropped']);
    expect(second?.calls).toEqual([]);
  });

  it('is not dropped once it is complete', () => {
    const [first, second] = open(128, 256 * kiB);
    if (first) budget.complete(first);

    budget.grow(makeBody('10.0.0.9'), 256 * kiB);

    expect([first?.calls, second?.calls]).toEqual([[], ['dropped']]);
  });
});

describe('a body that grows', () => {
  it('is dropped itself if it is the oldest small body', () => {
    open(1, 512 * kiB, () => '10.0.2.1');
    const [first] = open(1, 100 * kiB);
    const others = open(127, 256 * kiB, (at) => `10.0.1.${at}`);
    open(1, 100 * kiB, () => '10.0.2.2');

    expect(first && budget.grow(first, 200 * kiB)).toBe('dropped');
    expect(first?.calls).toEqual(['dropped']);
    expect(others.flatMap(({ calls }) => calls)).toEqual([]);
  });

  it('is dropped itself if it is the slow body', () => {
    const [slow] = open(1, 8 * miB);
    const [other] = open(1, 16 * miB, () => '10.0.1.1');
    if (other) budget.complete(other);
    nowMs = startMs + 1_001;

    expect(slow && budget.grow(slow, 20 * miB)).toBe('dropped');
    expect([slow?.calls, other?.calls]).toEqual([['dropped'], []]);
    expect(budget.grow(makeBody('10.0.0.9'), 16 * miB)).toBe('granted');
  });
});

describe('a large body beyond the budget', () => {
  it('waits while no other body is slow, and continues when another body is released', async () => {
    const [first] = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');

    expect(budget.grow(late, 8 * miB)).toBe('waits');
    await settle();
    expect(late.calls).toEqual([]);
    if (first) budget.release(first);
    await released();

    expect(late.calls).toEqual(['resumed']);
  });

  it('takes the place of the largest slow body', () => {
    const [first] = open(1, 8 * miB);
    const [large] = open(1, 16 * miB, () => '10.0.1.1');
    open(1, 8 * miB, () => '10.0.1.2');
    nowMs = startMs + 1_001;

    expect(budget.grow(makeBody('10.0.0.9'), 8 * miB)).toBe('granted');

    expect(large?.calls).toEqual(['dropped']);
    expect(first?.calls).toEqual([]);
  });

  it('takes the place of a body that becomes slow while it waits', async () => {
    const bodies = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');
    expect(budget.grow(late, 8 * miB)).toBe('waits');
    await released();

    nowMs = startMs + 1_001;

    await expect.poll(() => late.calls, { interval: 10 }).toEqual(['resumed']);
    expect(bodies.flatMap(({ calls }) => calls)).toEqual(['dropped']);
  });

  it('never takes the place of a complete body', async () => {
    const bodies = open(4, 8 * miB);
    for (const body of bodies) budget.complete(body);
    nowMs = startMs + 10_000;
    const late = makeBody('10.0.0.9');

    expect(budget.grow(late, 8 * miB)).toBe('waits');
    await settle();

    expect(bodies.flatMap(({ calls }) => calls)).toEqual([]);
  });

  it('is not slow because of the time it waited', async () => {
    const bodies = open(4, 8 * miB);
    const late = makeBody('10.0.0.9');
    budget.grow(late, 512 * kiB);
    for (const body of bodies) budget.complete(body);
    nowMs = startMs + 5_000;
    await settle();
    for (const body of bodies) budget.release(body);
    await released();
    const full = [...open(1, 16 * miB), ...open(1, 15.5 * miB, () => '10.0.2.1')];
    for (const body of full) budget.complete(body);

    nowMs = startMs + 6_000;
    expect(budget.grow(makeBody('10.0.2.8'), 512 * kiB)).toBe('waits');
    expect(late.calls).toEqual(['resumed']);
    nowMs = startMs + 6_001;
    expect(budget.grow(makeBody('10.0.2.9'), 512 * kiB)).toBe('granted');
    expect(late.calls).toEqual(['resumed', 'dropped']);
  });

  it('is not slow while it waits for more memory than it holds', () => {
    const [held, ...others] = open(4, 8 * miB);
    for (const body of others) budget.complete(body);
    expect(held && budget.grow(held, 9 * miB)).toBe('waits');

    nowMs = startMs + 5_000;

    expect(budget.grow(makeBody('10.0.0.9'), 8 * miB)).toBe('waits');
    expect(held?.calls).toEqual([]);
  });

  it('is slow more than a second after its first byte, however it grows', () => {
    const [slow] = open(1, 8 * miB);
    open(2, 12 * miB, (at) => `10.0.1.${at}`);
    nowMs = startMs + 900;
    slow && budget.grow(slow, 8 * miB + 1);

    nowMs = startMs + 1_000;
    expect(budget.grow(makeBody('10.0.0.8'), 4 * miB)).toBe('waits');
    expect(slow?.calls).toEqual([]);
    nowMs = startMs + 1_001;
    expect(budget.grow(makeBody('10.0.0.9'), 8 * miB)).toBe('granted');
  });

  it('needs room only for its growth', () => {
    const [first] = open(3, 4 * miB);
    const [late] = open(1, 256 * kiB, () => '10.0.1.1');

    for (const size of [8, 12, 16])
      expect(first && budget.grow(first, size * miB), `${size}`).toBe('granted');

    // The bodies hold 24 MiB. The bytes of a small body do not count.
    expect(late && budget.grow(late, 8 * miB + 1)).toBe('waits');
    expect(late && budget.grow(late, 8 * miB)).toBe('granted');
  });

  it('that is released while it waits gets nothing, and the next waiting body continues', async () => {
    const [first] = open(4, 8 * miB);
    const [gone, next] = [makeBody('10.0.0.8'), makeBody('10.0.0.9')];
    for (const body of [gone, next]) expect(budget.grow(body, 8 * miB)).toBe('waits');

    budget.release(gone);
    if (first) budget.release(first);
    await released();

    expect([gone.calls, next.calls]).toEqual([[], ['resumed']]);
  });

  it('does not take the place of a small body, however slow the small body is', () => {
    const [small] = open(1, 256 * kiB, () => '10.0.1.1');
    const bodies = open(4, 8 * miB);
    for (const body of bodies) budget.complete(body);
    nowMs = startMs + 1_001;

    expect(budget.grow(makeBody('10.0.0.9'), 8 * miB)).toBe('waits');
    expect(small?.calls).toEqual([]);
  });

  it('is read to its end if all other bodies are waiting', () => {
    open(1, 256 * kiB, () => '10.0.1.1');
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

  it('drops its own bodies first to make room', () => {
    const [own] = open(2, 8 * miB, () => '10.0.0.1');
    const [other] = open(1, 9 * miB, () => '10.0.0.2');
    nowMs = startMs + 1_001;

    expect(budget.grow(makeBody('10.0.0.1'), 8 * miB)).toBe('granted');
    expect([own?.calls, other?.calls]).toEqual([['dropped'], []]);
  });
});
