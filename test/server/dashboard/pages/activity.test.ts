import { expect, it } from 'vitest';
import { viewChart } from '../../../../src/server/dashboard/pages/activity.ts';
import { exampleSamples } from '../../../support/example-samples.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';

const dashboard = serveDashboard([]);
const now = new Date('2030-01-01T00:00:00Z');

it('without samples, every chart states that it has no values', async () => {
  const { status, text } = await dashboard.operator.get('/activity');

  expect(status).toBe(200);
  expect(text.match(/<svg viewBox="0 0 96 100"/g)).toHaveLength(5);
  expect(text.match(/No values yet\./g)).toHaveLength(5);
  expect(text).toContain('In 24 hours: deliveries received: 0');
});

it('each chart has a title, a summary, and a table of its values for people who cannot see the chart', async () => {
  await dashboard.store.addSamples(exampleSamples(now));
  for (const [over, marks, rows] of [
    ['day', 96, 24],
    ['week', 168, 28],
    ['month', 120, 30],
    ['nonsense', 96, 24],
  ] as const) {
    const { text } = await dashboard.operator.get(`/activity?over=${over}`);

    expect(text.match(new RegExp(`<svg viewBox="0 0 ${marks} 100"`, 'g')), over).toHaveLength(5);
    for (const id of ['deliveries', 'latency', 'queue', 'runners', 'drift']) {
      expect(text).toContain(`aria-labelledby="${id}-title ${id}-text"`);
      expect(text).toMatch(
        new RegExp(`<title id="${id}-title">[^<]+</title><desc id="${id}-text">[^<]+</desc>`),
      );
    }
    expect(tableCells(text).length, over).toBe(rows * 5);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  }
});

it('bars are stacked within the axis, and a line has a gap where a value is unknown', () => {
  const format = (value: number): string => `${value} pieces`;
  const { text } = viewChart({
    id: 'a',
    title: 'A',
    summary: 'Some.',
    format,
    times: [],
    table: { heads: [], rows: [] },
    series: [
      { name: 'low', colour: 'ok', shape: 'bars', values: [1, 0, 3] },
      { name: 'high', colour: 'bad', shape: 'bars', values: [1, undefined, 3] },
      { name: 'line', colour: 'busy', shape: 'line', values: [5, undefined, 2, 2] },
    ],
  });

  expect(text).toContain('<span>6 pieces</span><span>3 pieces</span><span>0 pieces</span>');
  expect(text).toContain('class="bars ok" d="M0 100V83.33h0.85V100zM2 100V50h0.85V100z"');
  expect(text).toContain('class="bars bad" d="M0 83.33V66.67h0.85V83.33zM2 50V0h0.85V50z"');
  expect(text).toContain('class="line busy line" d="M0.2 16.67L0.8 16.67M2.2 66.67L2.8 66.67L3.5 66.67"');
});
