import { type Html, html } from '../../../platform/http/html.ts';

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
