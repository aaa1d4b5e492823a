import { type Html, html } from '../../../platform/http/html.ts';
import {
  type ChartMark,
  type ChartStretch,
  chartStretches,
  joinMarks,
  marksOf,
  type SampleName,
  sampleSpanOf,
} from '../activity-samples.ts';
import type { DashboardData } from '../data.ts';
import { type PageView, type TableCell, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

/** Shows deliveries, failures, latency, the queue, runners and drift over time. */
export async function activityPage(
  pageRequest: PageRequest,
  { store, now }: DashboardData,
): Promise<PageView> {
  const asked = pageRequest.query.get('over');
  const [day] = chartStretches;
  const stretch = chartStretches.find(({ name }) => name === asked) ?? day;
  if (stretch === undefined) return { title: 'Activity', content: html`` };
  const at = now();
  const since = sampleSpanOf(new Date(at.getTime() - stretch.hours * 3_600_000), stretch.minutes);
  const marks = marksOf(await store.readSamples({ minutes: stretch.minutes, since }), stretch, at);
  const tools = createChartTools(marks, stretch);
  const charts = [...chartsOfDeliveries(tools), ...chartsOfSweeps(tools)].map(viewChart);
  const content = html`${stretchTabs(stretch, pageRequest.root)}
<p class="muted">Times are in UTC. Each process writes its counts once a minute, so the newest minute is not shown.</p>
<div class="charts">${charts}</div>`;
  return { title: 'Activity', content };
}

function stretchTabs(shown: ChartStretch, root: string): Html {
  const tabs = chartStretches.map(({ name, words }) => {
    const current = name === shown.name ? html` aria-current="page"` : undefined;
    return html`<li><a href="${root}activity?over=${name}"${current}>${words}</a></li>`;
  });
  return html`<ul class="tabs">${tabs}</ul>`;
}

/** Returns helpers for the charts of a time range. */
function createChartTools(marks: readonly ChartMark[], stretch: ChartStretch) {
  const rows = rowsOf(marks, stretch.perRow);
  const total = (name: SampleName): number => marks.reduce((sum, { values }) => sum + (values[name] ?? 0), 0);
  const greatest = (values: readonly (number | undefined)[]): number =>
    Math.max(0, ...values.map((one = 0) => one));
  const row = (name: SampleName): readonly (number | undefined)[] => marks.map(({ values }) => values[name]);
  const latest = (name: SampleName): number => row(name).findLast((value) => value !== undefined) ?? 0;
  const series = (
    name: string,
    of: SampleName,
    colour: ChartSeries['colour'],
    shape: ChartSeries['shape'],
  ): ChartSeries => ({ name, colour, shape, values: row(of) });
  const times = timesOf(marks, stretch);
  const chart = (
    about: Pick<Chart, 'id' | 'title' | 'summary' | 'series'> & { readonly format?: Chart['format'] },
    columns: readonly (readonly [head: string, cell: (mark: ChartMark) => string])[],
  ): Chart => ({
    format: formatCount,
    ...about,
    times,
    table: {
      heads: ['from', ...columns.map(([head]) => head)],
      rows: rows.map((mark) => [exactTime(mark.at), ...columns.map(([, cell]) => cell(mark))]),
    },
  });
  const column = (head: string, name: SampleName) =>
    [head, ({ values }: ChartMark) => formatKnown(values[name], formatCount)] as const;
  return { marks, words: stretch.words, total, greatest, row, latest, series, chart, column };
}
type ChartTools = ReturnType<typeof createChartTools>;

function chartsOfDeliveries({
  marks,
  words,
  total,
  greatest,
  row,
  latest,
  series,
  chart,
  column,
}: ChartTools): readonly Chart[] {
  const slowest = marks.map(({ p95 }) => p95);
  return [
    chart(
      {
        id: 'deliveries',
        title: 'Deliveries and failures',
        summary: `In ${words}: deliveries received: ${formatCount(total('received'))}, ${formatCount(total('failed'))} with a failed rule or change, ${formatCount(total('dead'))} given up.`,
        series: [
          series('handled', 'handled', 'ok', 'bars'),
          series('failed', 'failed', 'wait', 'bars'),
          series('dead', 'dead', 'bad', 'bars'),
          series('received', 'received', 'plain', 'line'),
        ],
      },
      [
        column('received', 'received'),
        column('handled', 'handled'),
        column('failed', 'failed'),
        column('dead', 'dead'),
      ],
    ),
    chart(
      {
        id: 'latency',
        title: 'Latency',
        summary: `From the receipt of a delivery to the end of its runs. In ${words}, the slowest p95 was ${formatMs(greatest(slowest))}.`,
        series: [
          { name: 'p50', colour: 'busy', shape: 'line', values: marks.map(({ p50 }) => p50) },
          { name: 'p95', colour: 'wait', shape: 'dashed', values: slowest },
        ],
        format: formatMs,
      },
      [
        ['p50', ({ p50 }) => formatKnown(p50, formatMs)],
        ['p95', ({ p95 }) => formatKnown(p95, formatMs)],
      ],
    ),
    chart(
      {
        id: 'queue',
        title: 'Queue',
        summary: `Waiting deliveries and jobs: ${formatCount(latest('waiting'))} in the latest sample, at most ${formatCount(greatest(row('waiting')))} in ${words}.`,
        series: [series('waiting', 'waiting', 'busy', 'bars')],
      },
      [
        column('waiting at most', 'waiting'),
        [
          'oldest at most',
          ({ values }) => formatKnown(values.oldest, (seconds) => formatMs(seconds * 1_000)),
        ],
      ],
    ),
  ];
}

function chartsOfSweeps({
  words,
  total,
  greatest,
  row,
  latest,
  series,
  chart,
  column,
}: ChartTools): readonly Chart[] {
  return [
    chart(
      {
        id: 'runners',
        title: 'Runners',
        summary: `As observed by sweeps: ${formatCount(latest('runners online'))} online in the latest sample, at most ${formatCount(greatest(row('runners offline')))} offline in ${words}.`,
        series: [
          series('online', 'runners online', 'ok', 'line'),
          series('busy', 'runners busy', 'busy', 'dashed'),
          series('offline', 'runners offline', 'bad', 'bars'),
        ],
      },
      [
        column('online', 'runners online'),
        column('busy', 'runners busy'),
        column('offline', 'runners offline'),
      ],
    ),
    chart(
      {
        id: 'drift',
        title: 'Drift',
        summary: `Differences from the rules: ${formatCount(latest('drift'))} in the latest sample; sweeps corrected ${formatCount(total('corrected'))} in ${words}, and a rule or change failed on ${formatCount(total('failed in sweeps'))} of their items.`,
        series: [
          series('corrected', 'corrected', 'ok', 'bars'),
          series('failed items', 'failed in sweeps', 'bad', 'bars'),
          series('remaining', 'drift', 'wait', 'line'),
        ],
      },
      [
        column('corrected', 'corrected'),
        column('failed items', 'failed in sweeps'),
        column('remaining', 'drift'),
      ],
    ),
  ];
}

/** Returns the rows of a table, newest first, without rows that have no data. */
function rowsOf(marks: readonly ChartMark[], perRow: number): readonly ChartMark[] {
  const rows: ChartMark[] = [];
  for (let from = 0; from < marks.length; from += perRow)
    rows.push(joinMarks(marks.slice(from, from + perRow)));
  return rows.filter(({ values, p50 }) => p50 !== undefined || Object.keys(values).length > 0).reverse();
}

function timesOf(marks: readonly ChartMark[], { name }: ChartStretch): readonly string[] {
  const at = (part: number): string => {
    const text = exactTime(marks[Math.floor((marks.length - 1) * part)]?.at ?? new Date(0));
    return name === 'day' ? text.slice(11) : text.slice(0, 10);
  };
  return [at(0), at(1 / 3), at(2 / 3), 'now'];
}

/** `2026-03-01 14:00`. */
function exactTime(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ');
}

function formatKnown(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? '–' : format(value);
}

/** Returns a number with thousands separators. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Returns a duration with its unit, rounded to about two digits. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

/**
 * One series of a chart. `colour` is a class of the style sheet; dashed lines keep series distinguishable without
 * colour.
 */
type ChartSeries = {
  readonly name: string;
  readonly colour: 'ok' | 'bad' | 'wait' | 'busy' | 'plain';
  readonly shape: 'bars' | 'line' | 'dashed';
  /** One value per mark; undefined: no data. */
  readonly values: readonly (number | undefined)[];
};

type Chart = {
  /** Id that is unique on the page. */
  readonly id: string;
  readonly title: string;
  /** Summary as a sentence, for screen readers. */
  readonly summary: string;
  /** Bars are stacked in this order. */
  readonly series: readonly ChartSeries[];
  /** Returns a value formatted for axis and table. */
  readonly format: (value: number) => string;
  /** Labels below the chart, evenly spaced. */
  readonly times: readonly (Html | string)[];
  readonly table: { readonly heads: readonly string[]; readonly rows: readonly (readonly TableCell[])[] };
};

/** Height of the SVG image in its own units; the width is one unit per mark. */
const height = 100;

/**
 * Returns a chart as an SVG image rendered on the server, with a table of its values. The image is stretched to the
 * available width, so the texts are placed outside the image and stay readable in a narrow window.
 */
export function viewChart(chart: Chart): Html {
  const { id, title, summary, series, format, times } = chart;
  const marks = Math.max(...series.map(({ values }) => values.length), 1);
  const top = niceTop(greatestOf(series));
  const legend = series.map(
    ({ name, colour, shape }) => html`<li><span class="key ${colour} ${shape}"></span>${name}</li>`,
  );
  const shapes = shapesOf(series, top);
  return html`<figure class="chart"><figcaption><h2>${title}</h2><ul class="legend">${legend}</ul></figcaption>
<div class="plot"><div class="axis" aria-hidden="true"><span>${format(top)}</span><span>${format(top / 2)}</span><span>${format(0)}</span></div>
<svg viewBox="0 0 ${marks} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-text"><title id="${id}-title">${title}</title><desc id="${id}-text">${summary}</desc>
<path class="grid" d="M0 ${height / 2}H${marks}"/>${shapes}</svg></div>
<div class="times" aria-hidden="true">${times.map((time) => html`<span>${time}</span>`)}</div>
<p class="muted">${summary}</p>
<details><summary>${title} as a table</summary>${table(chart.table.heads, chart.table.rows, 'No values yet.')}</details></figure>`;
}

/** Returns a small bar chart without axes. It only illustrates the number beside it, so screen readers skip it. */
export function viewSparkline(values: readonly (number | undefined)[], colour: ChartSeries['colour']): Html {
  const top = Math.max(1, ...values.map((value = 0) => value));
  return html`<svg class="spark" viewBox="0 0 ${Math.max(values.length, 1)} ${height}" preserveAspectRatio="none" aria-hidden="true"><path class="${colour}" d="${barPath(values, [], top)}"/></svg>`;
}

function shapesOf(series: readonly ChartSeries[], top: number): readonly Html[] {
  const bases: number[] = [];
  return series.map(({ colour, shape, values }) => {
    if (shape !== 'bars') return html`<path class="line ${colour} ${shape}" d="${linePath(values, top)}"/>`;
    const d = barPath(values, bases, top);
    for (const [index, value = 0] of values.entries()) bases[index] = (bases[index] ?? 0) + value;
    return html`<path class="bars ${colour}" d="${d}"/>`;
  });
}

/** Returns the path of a series of bars, each of which begins at its base. */
function barPath(values: readonly (number | undefined)[], bases: readonly number[], top: number): string {
  let path = '';
  for (const [index, value = 0] of values.entries()) {
    if (value <= 0) continue;
    const from = yOf(bases[index] ?? 0, top);
    const to = yOf((bases[index] ?? 0) + value, top);
    path += `M${index} ${from}V${to}h0.85V${from}z`;
  }
  return path;
}

/** Returns a line through the centres of the marks, with gaps for missing data; a single value is a short line. */
function linePath(values: readonly (number | undefined)[], top: number): string {
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (value !== undefined) {
      const y = yOf(value, top);
      path += isDrawing ? `L${index + 0.5} ${y}` : `M${index + 0.2} ${y}L${index + 0.8} ${y}`;
    }
    isDrawing = value !== undefined;
  }
  return path;
}

function yOf(value: number, top: number): number {
  return Math.round((height - (Math.min(value, top) / top) * height) * 100) / 100;
}

function greatestOf(series: readonly ChartSeries[]): number {
  const sums: number[] = [];
  let greatest = 0;
  for (const { shape, values } of series)
    for (const [index, value = 0] of values.entries()) {
      if (shape === 'bars') sums[index] = (sums[index] ?? 0) + value;
      greatest = Math.max(greatest, shape === 'bars' ? (sums[index] ?? 0) : value);
    }
  return greatest;
}

/** Returns the maximum of an axis: 2, 4, 6, 8, 10, 20, 40 … so that the midpoint is also a whole number. */
function niceTop(greatest: number): number {
  if (greatest <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(greatest));
  const step = [2, 4, 6, 8, 10, 20].find((one) => greatest <= one * power) ?? 20;
  return step * power;
}
