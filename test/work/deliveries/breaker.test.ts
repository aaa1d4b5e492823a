import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker } from '../../../src/work/deliveries/breaker.ts';
import { makeClock } from '../../support/make-clock.ts';

let nowMs: number;
let breaker: Breaker;
beforeEach(() => {
  nowMs = 0;
  breaker = new Breaker(makeClock({ monotonicMs: () => nowMs }), { random: () => 0.5 });
});

/** Lets the wait pass and the forge answer a probe. */
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
  it('opens at the first failure of the host, and is the host’s to blame', () => {
    expect(attempt('1', 'failed')).toBe('host');
    expect([breaker.state(), breaker.room(8)]).toEqual(['open', 0]);
  });

  it('probes later and later, up to 30 s, and sooner again after it was closed', () => {
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

  it('tries one delivery once the forge answers, whatever else is still going on', () => {
    breaker.begin('a sweep that goes on');
    attempt('1', 'failed');
    answerProbe();

    expect([breaker.state(), breaker.room(8)]).toEqual(['half-open', 1]);
    breaker.begin('2');
    expect(breaker.room(8)).toBe(0);
  });

  it('closes when that one succeeds, and opens again when it fails as many others did', () => {
    for (const lane of ['1#1', '2#1', '3#1']) attempt(lane, 'failed');
    answerProbe();
    expect(breaker.suspects()).toEqual(['1#1', '2#1', '3#1']);
    expect(attempt('4#1', 'failed')).toBe('host');
    expect(breaker.state()).toBe('open');

    answerProbe();
    attempt('5#1', 'succeeded');
    expect([breaker.state(), breaker.room(8)]).toEqual(['closed', 8]);
  });

  it('blames an item for its second failure when another lane succeeded in between, and stays closed', () => {
    attempt('poison', 'failed');
    answerProbe();
    attempt('healthy', 'succeeded');

    expect(attempt('poison', 'failed')).toBe('item');
    expect(breaker.state()).toBe('closed');
    expect(attempt('another', 'failed')).toBe('host');
  });

  it('blames an item that is alone when the forge answers a probe and it fails again', () => {
    attempt('poison', 'failed');
    answerProbe();

    expect(attempt('poison', 'failed')).toBe('item');
    expect(breaker.state()).toBe('closed');
  });

  it('does not take many failing lanes of one repository for the whole forge', () => {
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

  it('forgives a lane that has succeeded since', () => {
    attempt('1', 'failed');
    answerProbe();
    attempt('2', 'succeeded');
    attempt('1', 'succeeded');

    expect(attempt('1', 'failed')).toBe('host');
  });

  it('learns nothing of the forge from what began before it opened, or asked for nothing', () => {
    const before = breaker.begin('before');
    attempt('1', 'failed');
    breaker.succeeded(before);
    expect(breaker.state()).toBe('open');

    answerProbe();
    attempt('2', 'ended');
    expect([breaker.state(), breaker.room(8)]).toEqual(['half-open', 1]);
  });
});
