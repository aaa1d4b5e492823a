import { beforeEach, describe, expect, it } from 'vitest';
import { createFailureThrottle } from '../../../src/platform/http/failure-throttle.ts';

let nowMs: number;
const createThrottle = () => createFailureThrottle({ perMinute: 3, clock: { now: () => new Date(nowMs) } });
const fail = (throttle: ReturnType<typeof createThrottle>, address: string, times: number): void => {
  for (let time = 0; time < times; time += 1) throttle.recordFailure(address);
};

beforeEach(() => {
  nowMs = Date.parse('2026-03-01T12:00:00.000Z');
});

describe('the failure throttle', () => {
  it('blocks an address after too many failures within a minute, and no other address', () => {
    const throttle = createThrottle();

    fail(throttle, 'a', 2);
    expect(throttle.isBlocked('a')).toBe(false);
    expect(throttle.recordFailure('a')).toBe(false);
    expect([throttle.isBlocked('a'), throttle.isBlocked('b')]).toEqual([true, false]);
    expect(throttle.recordFailure('a')).toBe(true);
  });

  it('counts from the first failure, so that neither further failures nor checks extend the minute', () => {
    const throttle = createThrottle();
    fail(throttle, 'a', 3);

    nowMs += 59_999;
    fail(throttle, 'a', 3);
    expect(throttle.isBlocked('a')).toBe(true);
    nowMs += 1;

    expect(throttle.isBlocked('a')).toBe(false);
  });

  it('restarts when the clock is set back by a minute', () => {
    const throttle = createThrottle();
    fail(throttle, 'a', 3);

    nowMs -= 60_000;

    expect(throttle.isBlocked('a')).toBe(false);
  });

  it('remembers the 10,000 addresses that failed most recently', () => {
    const throttle = createThrottle();
    fail(throttle, 'first', 3);
    fail(throttle, 'again', 3);
    for (let n = 0; n < 9_998; n += 1) throttle.recordFailure(`other ${n}`);
    expect([throttle.isBlocked('first'), throttle.isBlocked('again')]).toEqual([true, true]);

    throttle.recordFailure('again');
    throttle.recordFailure('one more');

    expect([throttle.isBlocked('first'), throttle.isBlocked('again')]).toEqual([false, true]);
  });
});
