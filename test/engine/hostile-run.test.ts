import { describe, expect, it } from 'vitest';
import { hostileRuns, prepareHostileRun } from '../../scripts/bench/hostile.ts';

// `npm run bench -- --only rules` measures the duration of these runs, on an otherwise idle machine.
describe('a run is bounded', () => {
  it.each(Object.entries(hostileRuns))('%s', async (_name, hostile) => {
    const { rules } = await prepareHostileRun(hostile)();
    const failed = rules.filter(({ verdict }) => verdict === 'failed');

    expect(rules).toHaveLength(Object.keys(hostile.rules).length);
    expect(failed.length > 0).toBe(hostile.isStopped);
    for (const { reason } of failed) expect(reason).toMatch(/evaluation budget|too large to judge/);
  });

  it('an event with an object of more than 500 members fails each rule that handles the event', async () => {
    const rules = { one: { if: 'event.number == 7' }, two: { if: 'event.number == 8' } };
    const pull = Object.fromEntries(Array.from({ length: 501 }, (_, number) => [`k${number}`, number]));
    const record = await prepareHostileRun({ rules, pull, isStopped: true })();

    expect(record.rules.map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual(
      Array(2).fill('failed: too large to judge: the event has an object with more than 500 members'),
    );
  });
});
