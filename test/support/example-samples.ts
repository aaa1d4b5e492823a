import {
  chartStretches,
  latencyName,
  type SampleName,
  sampleMerges,
  sampleSpanOf,
} from '../../src/server/dashboard/activity-samples.ts';
import type { Sample } from '../../src/store/samples.ts';

/** Returns samples of thirty days, with days and nights, an outage and a busy hour. */
export function exampleSamples(now: Date): readonly Sample[] {
  return chartStretches.flatMap(({ minutes, hours }) => {
    const count = (hours * 60) / minutes;
    return Array.from({ length: count }, (_, index) => {
      const at = sampleSpanOf(new Date(now.getTime() - index * minutes * 60_000), minutes);
      return samplesOfSpan(at, minutes, index / count);
    }).flat();
  });
}

/** Returns the samples of a span. `part` is the position in the period: 0 is now, 1 is its start. */
function samplesOfSpan(at: Date, minutes: number, part: number): readonly Sample[] {
  const hour = at.getTime() / 3_600_000;
  const wave = 1 + Math.sin((hour / 24) * 2 * Math.PI) + Math.sin(hour * 7) / 4;
  const received = Math.round(wave * 2 * minutes);
  const isOutage = part > 0.4 && part < 0.44;
  const waiting = isOutage ? received * 3 : received % 5;
  const sample = (name: SampleName, amount: number): Sample => ({
    minutes,
    at,
    name,
    amount: Math.max(Math.round(amount), 0),
    merge: sampleMerges[name],
  });
  const levels = [
    sample('received', received),
    sample('handled', isOutage ? 0 : received * 0.95),
    sample('failed', received * 0.04),
    sample('dead', isOutage ? received * 0.3 : 0),
    sample('waiting', waiting),
    sample('oldest', isOutage ? 900 : 1),
    sample('runners online', part > 0.7 ? 6 : 8),
    sample('runners busy', wave * 2),
    sample('runners offline', part > 0.7 ? 2 : 0),
    sample('drift', 3 + wave * 2),
    sample('corrected', wave),
  ];
  if (isOutage) return levels;
  const latencies = [30, 45, 60, 90, 250 + 400 * wave].map(
    (ms, index): Sample => ({ minutes, at, name: latencyName(ms), amount: 20 >> index, merge: 'sum' }),
  );
  return [...levels, ...latencies];
}
