import { type Html, html } from '../../../platform/http/html.ts';

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

/** A UUID, a commit, `acme/shop`, `acme/shop#7`, `triage.yml:3`, `#7`; longer names have to be broken in a narrow window. */
const shortId =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<![\w./-])[\w.-]{1,24}\/[\w.-]{1,24}(?:#\d+)?(?![\w/-])|#\d+|(?<![\w./-])[\w.-]{1,30}\.ya?ml(?:[:#][\w-]{1,12}){1,2}|\b[0-9a-f]{10,40}\b/g;
/** Letters of a text that are searched for ids. */
const maxSearched = 4_000;

/** Returns a text in which no line breaks inside an id. */
export function markIds(text: string): Html {
  if (text.length > maxSearched) return html`${text}`;
  const pieces: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(shortId)) {
    pieces.push(html`${text.slice(end, match.index)}<span class="whole">${match[0]}</span>`);
    end = match.index + match[0].length;
  }
  return html`${pieces}${text.slice(end)}`;
}
