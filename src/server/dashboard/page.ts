import { Html, html } from '../../platform/http/html.ts';

/** Content of a page. */
export type PageView = {
  readonly title: string;
  readonly content: Html;
  /** Status of the response to a form; default: 200. */
  readonly status?: number;
  /** Whether the page updates while it is open; default: no. */
  readonly isLive?: boolean;
  /** Buttons and menus beside the heading. */
  readonly actions?: Html | undefined;
};

/** One entry of the navigation. Entries of one group follow each other. */
export type NavEntry = { readonly path: string; readonly text: string; readonly group: string };

/** Fields of the frame around a page. */
export type PageFrame = {
  /**
   * Relative path from this page to the root of the dashboard, which may be served below another path: `./` or `../`.
   */
  readonly root: string;
  readonly entries: readonly NavEntry[];
  /** Path of the navigation entry of the page. */
  readonly currentPath?: string | undefined;
  /** Absent: an anonymous viewer. */
  readonly viewer?: { readonly name: string; readonly signOutMark: string };
  /** Target of an immediate redirect without a script. */
  readonly leadsTo?: string | undefined;
};

const markShapes = '<rect width="24" height="24" rx="6"/><path d="M7 18V7h6a3.5 3.5 0 0 1 0 7H7m5 0 5 4"/>';
const productMark = new Html(`<svg viewBox="0 0 24 24" aria-hidden="true">${markShapes}</svg>`);

/** The logo of Reeve as an SVG image, for the browser tab. */
export const markImage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#1f6f4a"><g stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">${markShapes.replace('<path ', '<path fill="none" stroke="#fff" ')}</g></svg>`;

/**
 * Returns a complete HTML page. It works without scripts, and its content security policy allows only Reeve's own
 * files.
 */
export function wholePage(
  { title, content, actions, isLive = false }: PageView,
  { root, entries, currentPath, viewer, leadsTo }: PageFrame,
): string {
  const leaving = leadsTo && html`<meta http-equiv="refresh" content="0; url=${leadsTo}">`;
  const signOut =
    viewer &&
    html`<form method="post" action="${root}sign-out"><input type="hidden" name="mark" value="${viewer.signOutMark}">
<span>${viewer.name}</span> <button>Sign out</button></form>`;
  const live = isLive ? html`<script src="${root}assets/live.js" defer></script>` : undefined;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${leaving || undefined}
<title>${title} · Reeve</title><link rel="icon" type="image/svg+xml" href="${root}assets/mark.svg">
<link rel="stylesheet" href="${root}assets/dashboard.css">${live}</head>
<body><a class="skip" href="#main">Skip to the page</a>
<header><div class="bar"><a class="brand" href="${root}">${productMark}Reeve</a>${viewer && searchForm(root)}${signOut}</div>
${viewNavigation(entries, root, currentPath)}</header>
<main id="main"><div class="head"><h1>${title}</h1>${actions}</div>${content}</main></body>
</html>
`.text;
}

/** Returns the form that finds a page by the name of what it shows. */
function searchForm(root: string): Html {
  return html`<form class="find" role="search" method="get" action="${root}search"><input type="search" name="q" aria-label="Search for owner/repo#7, owner/repo, a rule, a delivery or a run" placeholder="owner/repo#7" autocomplete="off"><button>Search</button></form>`;
}

/** Returns the groups of the navigation, and below them the pages of the current group. */
function viewNavigation(
  entries: readonly NavEntry[],
  root: string,
  currentPath: string | undefined,
): Html | undefined {
  const groups = Map.groupBy(entries, ({ group }) => group);
  const current = entries.find(({ path }) => path === currentPath)?.group;
  const shown = current === undefined ? [] : (groups.get(current) ?? []);
  const tabs = [...groups].map(([group, [first]]) => {
    // The group of a single page is that page.
    const mark =
      group !== current
        ? undefined
        : shown.length > 1
          ? html` aria-current="true"`
          : html` aria-current="page"`;
    return html`<li><a href="${root}${first?.path}"${mark}>${group}</a></li>`;
  });
  if (tabs.length === 0) return undefined;
  const pages = shown.map(({ path, text }) => {
    const mark = path === currentPath ? html` aria-current="page"` : undefined;
    return html`<li><a href="${root}${path}"${mark}>${text}</a></li>`;
  });
  return html`<nav aria-label="Groups of pages"><ul>${tabs}</ul></nav>
${pages.length > 1 ? html`<nav class="pages" aria-label="Pages of ${current}"><ul>${pages}</ul></nav>` : undefined}`;
}

/**
 * Content security policy: allows only Reeve's own style sheet, logo, script and requests. Forms are sent only to
 * Reeve, and no site may frame the page.
 */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const units = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;
/** Age from which an instant is shown as a date. */
const longAgoSeconds = 30 * 86_400;

/** Returns an instant relative to now, with the exact time in UTC as a tooltip. */
export function timeTag(at: Date | string | undefined, now: Date): Html | undefined {
  if (at === undefined) return undefined;
  const instant = new Date(at);
  const text = instant.toISOString();
  const exact = `${text.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${text}" title="${exact}">${relativeWords(instant, now)}</time>`;
}

/**
 * Returns the time between an instant and now: `just now`, `5 min ago`, `in 2 days`. Distant instants are shown as
 * dates.
 */
export function relativeWords(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1_000);
  const distance = Math.abs(seconds);
  if (distance >= longAgoSeconds) return at.toISOString().slice(0, 10);
  if (distance < 5) return 'just now';
  const [unit, size] = units.find(([, one]) => distance >= one) ?? units[3];
  const count = Math.floor(distance / size);
  const words = `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`;
  return seconds > 0 ? `in ${words}` : `${words} ago`;
}

/** Content of a table cell. */
export type TableCell = Html | string | number | undefined;

/** Words that may be broken, because they are longer than a UUID or a commit id. */
const longWord = /[^\s<>]{41,}/;
/** Words that need the full width of a card. */
const wideWord = /[^\s<>]{25,}/;

/**
 * Returns a table, or a text if there are no rows. Each cell repeats its column heading, because rows become cards in a
 * narrow window. The roles are explicit, because browsers drop table semantics from tables displayed as blocks.
 */
export function table(
  heads: readonly string[],
  rows: readonly (readonly TableCell[])[],
  empty: Html | string,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const head = heads.map((text) => html`<th role="columnheader" scope="col">${text}</th>`);
  const body = rows.map(
    (cells) => html`<tr role="row">${cells.map((cell, at) => viewCell(cell, heads[at] ?? ''))}</tr>\n`,
  );
  return html`<div class="wide" tabindex="0" role="group" aria-label="${heads.join(', ')}"><table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${body}</tbody></table></div>`;
}

/** Wraps the content of a cell in one element, so that it stays in one column beside its label in a card. */
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

/** A UUID, a commit, `acme/shop`, `acme/shop#7`, `triage.yml:3` or `#7`. Longer names may break in a narrow window. */
const shortId =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<![\w./-])[\w.-]{1,24}\/[\w.-]{1,24}(?:#\d+)?(?![\w/-])|#\d+|(?<![\w./-])[\w.-]{1,30}\.ya?ml(?:[:#][\w-]{1,12}){1,2}|\b[0-9a-f]{10,40}\b/g;
/** Maximum length of a text that is searched for ids. */
const maxSearched = 4_000;

/** Returns a text whose ids cannot be broken across lines. */
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
