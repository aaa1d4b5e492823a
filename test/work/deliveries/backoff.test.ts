import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackoff } from '../../../src/work/deliveries/attempt.ts';
import { recordFigure } from '../../support/figure.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const dayMs = 86_400_000;
const aged = (ms: number) => new Date(now.getTime() - ms);

describe('createBackoff', () => {
  it('waits within 20 % of the doubled time, never longer than the maximum, and never shorter than the forge asks for', (context) => {
    let tried = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.nat(3_600_000), { nil: undefined }),
        (attempts, random, retryAfterMs) => {
          tried += 1;
          const failed = { attempts, receivedAt: now, redrivenAt: undefined };
          const next = createBackoff({ random: () => random })(failed, { now, retryAfterMs });
          const waitMs = 'afterMs' in next ? next.afterMs : -1;
          const share = Math.min(10_000 * 2 ** Math.min(attempts - 1, 40), 6_000_000);

          expect(waitMs).toBeGreaterThanOrEqual(Math.max(Math.floor(share * 0.8), retryAfterMs ?? 0));
          expect(waitMs).toBeLessThanOrEqual(Math.max(Math.ceil(share * 1.2), retryAfterMs ?? 0));
          expect(waitMs).toBeLessThanOrEqual(7_200_000);
        },
      ),
      { numRuns: process.env.LONG ? 100_000 : 100 },
    );
    recordFigure(
      context,
      `${tried.toLocaleString('en')} waits: each within 20 % of its share, at most 2 h, never less than asked`,
    );
  });

  it.each([1, 5, 100])('spreads out deliveries that failed together, after %i attempts', (attempts) => {
    const backoff = createBackoff();
    const failed = { attempts, receivedAt: now, redrivenAt: undefined };
    const waits = Array.from({ length: 200 }, () => {
      const next = backoff(failed, { now, retryAfterMs: undefined });
      return 'afterMs' in next ? next.afterMs : 0;
    });

    expect(new Set(waits).size).toBeGreaterThan(150);
    expect(Math.max(...waits) / Math.min(...waits)).toBeGreaterThan(1.3);
  });

  it.each([
    [
      'gives up what is older than its lifetime',
      { receivedAt: aged(7 * dayMs + 1), redrivenAt: undefined },
      true,
    ],
    ['keeps what is as old as its lifetime', { receivedAt: aged(7 * dayMs), redrivenAt: undefined }, false],
    [
      'counts anew from where it was redriven',
      { receivedAt: aged(90 * dayMs), redrivenAt: aged(dayMs) },
      false,
    ],
    [
      'keeps what a clock that was set back has dated in the future',
      { receivedAt: aged(-dayMs), redrivenAt: undefined },
      false,
    ],
  ])('%s, whatever the number of attempts', (_title, dates, isOver) => {
    const next = createBackoff()({ attempts: 1_000, ...dates }, { now, retryAfterMs: undefined });

    expect('giveUp' in next).toBe(isOver);
  });

  it('waits as long as the forge asks for, even beyond the lifetime', () => {
    const failed = { attempts: 1, receivedAt: aged(6 * dayMs), redrivenAt: undefined };

    const next = createBackoff()(failed, { now, retryAfterMs: 10 * dayMs });

    expect(next).toEqual({ afterMs: 10 * dayMs });
  });
});
