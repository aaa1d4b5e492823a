import { describe, expect, it } from 'vitest';
import { type BenchRow, betterOf, findWorse } from '../scripts/bench/runner.ts';

const row = (ratio: number | null, changes: Partial<BenchRow> = {}): BenchRow => ({
  name: 'intake',
  value: 1,
  unit: '/s',
  against: 'bare',
  ratio,
  target: '>= 0.9 x',
  ok: true,
  ...changes,
});
const cost = (ratio: number) => row(ratio, { name: 'sweep', target: '<= 1.5 x' });

describe('the comparison of a benchmark with an earlier one', () => {
  it('reports ratios that are more than a tenth worse, whether a higher or a lower ratio is better', () => {
    expect(findWorse([row(0.8), cost(1.2)], [row(0.9), cost(1)])).toEqual([
      { name: 'intake', before: 0.9, now: 0.8 },
      { name: 'sweep', before: 1, now: 1.2 },
    ]);
    expect(findWorse([row(0.82), cost(1.09)], [row(0.9), cost(1)])).toEqual([]);
    expect(findWorse([row(2), cost(0.1)], [row(0.9), cost(1)])).toEqual([]);
  });

  it('compares rows with the same name by their target, but not new rows or rows without a ratio', () => {
    const other = row(0.5, { target: '>= 1 x' });

    expect(findWorse([row(0.9), other], [row(0.9), { ...other, ratio: 0.5 }])).toEqual([]);
    expect(findWorse([row(0.1), row(null, { name: 'start' })], [row(null, { name: 'start' })])).toEqual([]);
  });

  it('compares rows without a target by their reference; for rates, higher is better', () => {
    const rate = (against: string, ratio: number) => row(ratio, { target: '–', unit: 'jobs/s', against });

    expect(
      findWorse([rate('a: 10/s', 0.5), rate('b: 5/s', 0.8)], [rate('a: 20/s', 0.4), rate('b: 4/s', 0.9)]),
    ).toEqual([{ name: 'intake', before: 0.9, now: 0.8 }]);
  });

  it('takes the better of two measurements', () => {
    expect(betterOf([row(0.8), cost(1.2)], [row(0.9), cost(1.4)])).toEqual([row(0.9), cost(1.2)]);
    expect(betterOf([row(0.8)], [])).toEqual([row(0.8)]);
  });
});
