import { beforeEach, describe, expect, it } from 'vitest';
import { type Clock, createSteadyClock } from '../../src/platform/clock.ts';
import { makeClock } from '../support/make-clock.ts';

const hourMs = 3_600_000;
const start = Date.parse('2026-03-01T12:00:00Z');
let wallMs: number;
let uptimeMs: number;
let jumps: number[];
let steady: Pick<Clock, 'now'>;

const pass = (ms: number): void => {
  wallMs += ms;
  uptimeMs += ms;
};
const sinceStartMs = (): number => steady.now().getTime() - start;

beforeEach(() => {
  wallMs = start;
  uptimeMs = 0;
  jumps = [];
  steady = createSteadyClock({
    clock: makeClock({ now: () => new Date(wallMs), monotonicMs: () => uptimeMs }),
    onJump: (byMs) => jumps.push(byMs),
  });
});

describe('the steady clock', () => {
  it('follows small corrections of the wall clock', () => {
    pass(10_000);
    wallMs += 30_000;

    expect(sinceStartMs()).toBe(40_000);
    expect(jumps).toEqual([]);
  });

  it.each([
    ['30 days ahead', 720 * hourMs],
    ['3 h back', -3 * hourMs],
  ])('continues when the wall clock jumps %s and returns, and reports it once', (_name, byMs) => {
    wallMs += byMs;
    for (let minute = 0; minute < 50; minute += 1) {
      expect(sinceStartMs()).toBe(minute * 60_000);
      pass(60_000);
    }
    wallMs -= byMs;

    expect(sinceStartMs()).toBe(50 * 60_000);
    expect(jumps).toEqual([byMs]);
  });

  it('accepts a new time that has lasted for an hour', () => {
    wallMs += 50 * 365 * 24 * hourMs;
    steady.now();
    pass(hourMs);

    expect(steady.now().getTime()).toBe(wallMs);
  });

  it('waits another hour if the wall clock jumps a second time', () => {
    wallMs += 24 * hourMs;
    steady.now();
    pass(50 * 60_000);
    wallMs += 24 * hourMs;
    steady.now();
    pass(50 * 60_000);

    expect(sinceStartMs()).toBe(100 * 60_000);
    expect(jumps).toHaveLength(2);
  });
});
