import { type Html, html } from '../../../platform/http/html.ts';
import { type TableCell, table } from '../look/table.ts';

/** One row of values of a chart. `colour` is a class of the style sheet; dashed lines can be told apart without colours. */
export type ChartSeries = {
  readonly name: string;
  readonly colour: 'ok' | 'bad' | 'wait' | 'busy' | 'plain';
  readonly shape: 'bars' | 'line' | 'dashed';
  /** One value a mark; undefined: nothing is known. */
  readonly values: readonly (number | undefined)[];
};

export type Chart = {
  /** Distinguishes it on its page. */
  readonly id: string;
  readonly title: string;
  /** What it shows, as a sentence: for people who do not see it. */
  readonly summary: string;
  /** Bars stand on each other, in this order. */
  readonly series: readonly ChartSeries[];
  /** Returns a value as its axis and the table show it. */
  readonly format: (value: number) => string;
  /** Labels below the chart, evenly spread. */
  readonly times: readonly (Html | string)[];
  readonly table: { readonly heads: readonly string[]; readonly rows: readonly (readonly TableCell[])[] };
};

/** Height of the drawing in its own units; its width has one unit a mark. */
const height = 100;

/**
 * Returns a chart as an SVG image that is drawn by the server, with a table of its values. The image is stretched to the width
 * that there is, so its texts stand outside of it: they stay readable in a narrow window.
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

function shapesOf(series: readonly ChartSeries[], top: number): readonly Html[] {
  const bases: number[] = [];
  return series.map(({ colour, shape, values }) => {
    if (shape !== 'bars') return html`<path class="line ${colour} ${shape}" d="${linePath(values, top)}"/>`;
    const d = barPath(values, bases, top);
    for (const [index, value = 0] of values.entries()) bases[index] = (bases[index] ?? 0) + value;
    return html`<path class="bars ${colour}" d="${d}"/>`;
  });
}

/** Returns the bars of a row of values above those that stand there. */
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

/** Returns a line through the middles of the marks, with a gap where nothing is known; one value alone is a short line. */
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

/** Returns the end of an axis: 2, 4, 6, 8, 10, 20, 40 … so that its middle is a whole number as well. */
function niceTop(greatest: number): number {
  if (greatest <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(greatest));
  const step = [2, 4, 6, 8, 10, 20].find((one) => greatest <= one * power) ?? 20;
  return step * power;
}
