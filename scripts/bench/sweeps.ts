import { type Measure, round } from './row.ts';
import { sweepInSync } from './sweeps/sweep.ts';

/** A sweep over repositories that are as the rule wants them, at 50 ms latency: what it reads, writes, takes and holds. */
export const measure: Measure = async ({ quick }) => {
  const repositories = quick ? 200 : 1_000;
  const { reads, writes, seconds, growthBytes } = await sweepInSync(repositories, 50);
  const name = `${repositories.toLocaleString('en')} repositories in sync, 50 ms latency`;
  const maxReads = repositories + repositories / 50 + 20;
  const maxSeconds = repositories / 50;
  const megabytes = Math.round(growthBytes / 2 ** 20);
  const alone = { against: '', ratio: null } as const;
  return [
    {
      name: `${name}: reads`,
      value: reads,
      unit: '',
      ...alone,
      target: `<= ${maxReads}`,
      ok: reads <= maxReads,
    },
    { name: `${name}: writes`, value: writes, unit: '', ...alone, target: '0', ok: writes === 0 },
    {
      name: `${name}: time`,
      value: round(seconds),
      unit: 's',
      ...alone,
      target: `<= ${maxSeconds} s`,
      ok: seconds <= maxSeconds,
    },
    {
      name: `${name}: memory gained from the first tenth to the end`,
      value: megabytes,
      unit: 'MB',
      ...alone,
      target: '<= 15 MB',
      ok: megabytes <= 15,
    },
  ];
};
