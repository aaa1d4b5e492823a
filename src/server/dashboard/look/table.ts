import { type Html, html } from '../../../platform/http/html.ts';
import { markIds } from './mark-ids.ts';

/** One value of a table. */
export type TableCell = Html | string | number | undefined;

/** A word that may be broken: a UUID and a commit are shorter. */
const longWord = /[^\s<>]{41,}/;
/** A word that needs the whole width of a card. */
const wideWord = /[^\s<>]{25,}/;

/**
 * Returns a table; without rows, what is said instead. Each cell repeats the head of its column: in a narrow window a row is
 * a card of lines. The roles stand there because a browser takes a table that is displayed as blocks for no table.
 */
export function table(
  heads: readonly string[],
  rows: readonly (readonly TableCell[])[],
  empty: string,
): Html {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  const head = heads.map((text) => html`<th role="columnheader" scope="col">${text}</th>`);
  const body = rows.map(
    (cells) => html`<tr role="row">${cells.map((cell, at) => viewCell(cell, heads[at] ?? ''))}</tr>\n`,
  );
  return html`<div class="wide" tabindex="0" role="group" aria-label="${heads.join(', ')}"><table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${body}</tbody></table></div>`;
}

/** The content of a cell is one box: beside its label in a card it stays in one column. */
function viewCell(cell: TableCell, head: string): Html {
  const text = typeof cell === 'object' ? cell.text.replaceAll(/<[^>]*>/g, '') : String(cell ?? '');
  if (text.trim() === '') return html`<td role="cell"></td>`;
  const kind = longWord.test(text)
    ? html` class="long"`
    : wideWord.test(text)
      ? html` class="whole-line"`
      : undefined;
  return html`<td role="cell"${kind} data-label="${head}"><div>${typeof cell === 'string' ? markIds(cell) : cell}</div></td>`;
}
