import { describe, expect, it } from 'vitest';
import { crash } from '../../scripts/crash/harness.ts';

describe('a server that is killed at any moment', () => {
  const kills = process.env.LONG ? 1_000 : 6;

  it('has every delivery that it acknowledged', { timeout: 600_000 }, async () => {
    const { acked, lost, isIntact } = await crash({ kills });

    // How many depends on the machine; none would prove nothing.
    expect(acked).toBeGreaterThan(0);
    expect({ lost, isIntact }).toEqual({ lost: 0, isIntact: true });
  });

  it('is caught when it acknowledges before it stores', async () => {
    const { lost } = await crash({ kills: 6, twin: 'ack-first' });

    expect(lost).toBeGreaterThan(0);
  });
});
