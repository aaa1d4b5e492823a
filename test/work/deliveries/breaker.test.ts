import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker } from '../../../src/work/deliveries/breaker.ts';
import { makeClock } from '../../support/make-clock.ts';

let nowMs: number;
let breaker: Breaker;
beforeEach(() => {
  nowMs = 0;
  breaker = new Breaker(makeClock({ monotonicMs: () => nowMs }), { random: () => 0.5 });
});

/** Advances the clock past the wait, and lets the forge answer a probe. */
const answerProbe = (): void => {
  nowMs += 60_000;
  breaker.probed(true);
};
const attempt = (lane: string, end: 'failed' | 'succeeded' | 'ended'): unknown => {
  const ticket = breaker.begin(lane);
  const result = breaker[end](ticket);
  breaker.ended(ticket);
  return result;
};

describe('the breaker', () => {
  it('opens at the first failure, and blames the host', () => {
    expect(attempt('1', 'failed')).toBe('host');
    expect([breaker.state(), breaker.room(8)]).toEqual(['open', 0]);
  });

  it('probes at growing intervals up to 30 s, and at 1 s again after it was closed', () => {
    const waits: number[] = [];
    attempt('1', 'failed');
    for (let probe = 0; probe < 8; probe += 1) {
      const sinceMs = nowMs;
      while (!breaker.isDue()) nowMs += 500;
      waits.push(nowMs - sinceMs);
      breaker.probed(false);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);

    answerProbe();
    attempt('2', 'succeeded');
    attempt('3', 'failed');
    nowMs += 1_000;
    expect(breaker.isDue()).toBe(true);
  });

  it('tries one delivery once the forge answers, whatever else is still running', () => {
    breaker.begin('a sweep that goes on');
    attempt('1', 'failed');
    answerProbe();

    expect([breaker.state(), breaker.room(8)]).toEqual(['half-open', 1]);
    breaker.begin('2');
    expect(breaker.room(8)).toBe(0);
  });

  it('closes if the trial succeeds, and opens again if it fails after several lanes have failed', () => {
    for (const lane of ['1#1', '2#1', '3#1']) attempt(lane, 'failed');
    answerProbe();
    expect(breaker.suspects()).toEqual(['1#1', '2#1', '3#1']);
    expect(attempt('4#1', 'failed')).toBe('host');
    expect(breaker.state()).toBe('open');

    answerProbe();
    attempt('5#1', 'succeeded');
    expect([breaker.state(), breaker.room(8)]).toEqual(['closed', 8]);
  });

  it('blames an item for its second failure if another lane succeeded in between, and stays closed', () => {
    attempt('poison', 'failed');
    answerProbe();
    attempt('healthy', 'succeeded');

    expect(attempt('poison', 'failed')).toBe('item');
    expect(breaker.state()).toBe('closed');
    expect(attempt('another', 'failed')).toBe('host');
  });

  it('blames the only item that failed if it fails again after the forge answered a probe', () => {
    attempt('poison', 'failed');
    answerProbe();

    expect(attempt('poison', 'failed')).toBe('item');
    expect(breaker.state()).toBe('closed');
  });

  it('does not treat many failing lanes of one repository as a failing forge', () => {
    attempt('7#1', 'failed');
    for (let index = 2; index < 20; index += 1) {
      if (breaker.state() === 'open') answerProbe();
      attempt(`7#${index}`, 'failed');
    }
    if (breaker.state() === 'open') answerProbe();
    attempt('8#1', 'succeeded');

    expect(breaker.state()).toBe('closed');
    expect(attempt('7#2', 'failed')).toBe('item');
  });

  it('does not blame a lane that has succeeded since it failed', () => {
    attempt('1', 'failed');
    answerProbe();
    attempt('2', 'succeeded');
    attempt('1', 'succeeded');

    expect(attempt('1', 'failed')).toBe('host');
  });

  it('ignores attempts that began before it opened, or that sent no request', () => {
    const before = breaker.begin('before');
    attempt('1', 'failed');
    breaker.succeeded(before);
    expect(breaker.state()).toBe('open');

    answerProbe();
    attempt('2', 'ended');
    expect([breaker.state(), breaker.room(8)]).toEqual(['half-open', 1]);
  });
});
