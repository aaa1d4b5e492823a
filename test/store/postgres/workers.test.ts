import { describe, expect, it } from 'vitest';
import { crashWorkers } from '../../../scripts/crash/crash-workers.ts';
import { makeSchema } from '../../support/postgres.ts';

describe('four processes on one PostgreSQL database', () => {
  const options = process.env.LONG
    ? { deliveries: 20_004, kills: 60, stops: 6, cuts: 6 }
    : { deliveries: 900, kills: 2, stops: 1, cuts: 1 };

  it('lose, reorder and duplicate nothing when they are killed, stopped and cut off', async () => {
    const { takeoverMs, attempts, repeats, ...report } = await crashWorkers({
      url: await makeSchema(),
      ...options,
    });

    expect(report).toEqual({
      accepted: options.deliveries,
      lost: 0,
      overlaps: 0,
      outOfOrder: 0,
      doubles: 0,
      taken: 0,
      kills: options.kills,
    });
    expect(attempts).toBeGreaterThan(options.deliveries);
    expect(repeats).toBeLessThanOrEqual(4 * (options.kills + options.stops + options.cuts));
    // Among many kills, some interrupt a delivery in flight.
    if (process.env.LONG) expect(takeoverMs.length).toBeGreaterThan(0);
  });
});
