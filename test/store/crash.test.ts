import { describe, expect, it } from 'vitest';
import { crash } from '../../scripts/crash/crash-servers.ts';
import { isThorough, recordFigure } from '../support/figure.ts';

/**
 * One of the first two kills happens under heavy load. `npm run crash` makes a thousand kills, and is part of `npm run
 * prove`.
 */
const usualKills = isThorough ? 6 : 2;

describe.each(['sqlite', 'postgres'] as const)('servers with %s that are killed at any moment', (store) => {
  const kills = process.env.LONG ? 60 : usualKills;

  it('keep every acknowledged delivery, in order and once', {
    timeout: 7_200_000,
  }, async (context) => {
    const { acked, lost, isIntact, overlaps, outOfOrder, doubles } = await crash({ kills, store });

    // The number depends on the machine, but the test would prove nothing without acknowledged deliveries.
    expect(acked).toBeGreaterThan(0);
    expect({ lost, isIntact, overlaps, outOfOrder, doubles }).toEqual({
      lost: 0,
      isIntact: true,
      overlaps: 0,
      outOfOrder: 0,
      doubles: 0,
    });
    const name = store === 'sqlite' ? 'SQLite' : 'three servers with PostgreSQL';
    recordFigure(context, `${name}, ${kills} kills: ${acked.toLocaleString('en')} acknowledged, 0 lost`);
  });

  it.runIf(isThorough || store === 'sqlite')(
    'are caught if they acknowledge before they store',
    async (context) => {
      const { lost } = await crash({ kills: 6, store, twin: 'ack-first', endsAtLoss: true });

      expect(lost).toBeGreaterThan(0);
      recordFigure(context, `a build that acknowledges first is caught (${store})`);
    },
  );
});
