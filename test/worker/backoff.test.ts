import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackoff } from '../../src/worker/backoff.ts';

const now = new Date('2026-03-01T12:00:00.000Z');

describe('createBackoff', () => {
  it('waits within 20 % of the doubled time, never beyond its cap, and never less than the other side asks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 11 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.nat(3_600_000), { nil: undefined }),
        (attempts, random, retryAfterMs) => {
          const next = createBackoff({ random: () => random })(
            { attempts, failingSince: now },
            { now, retryAfterMs },
          );
          const waitMs = 'at' in next ? next.at.getTime() - now.getTime() : -1;
          const doubledMs = 10_000 * 2 ** (attempts - 1);
          const leastMs = Math.min(doubledMs * 0.8, 7_200_000);
          const mostMs = Math.min(doubledMs * 1.2, 7_200_000);

          expect(waitMs).toBeGreaterThanOrEqual(Math.max(Math.floor(leastMs), retryAfterMs ?? 0));
          expect(waitMs).toBeLessThanOrEqual(Math.max(mostMs, retryAfterMs ?? 0));
        },
      ),
    );
  });
});
