import { Html, html } from '../../platform/http/html.ts';

/** What a page shows. */
export type PageView = {
  readonly title: string;
  readonly content: Html;
  /** Status of the answer to a form; default: 200. */
  readonly status?: number;
  /** Whether the page follows changes while it is open; default: no. */
  readonly isLive?: boolean;
};

/** One entry of the bar on top of every page. */
export type NavEntry = { readonly path: string; readonly text: string };

/** Whom a page is for, and what else the frame around it shows. */
export type PageFrame = {
  /** The way from this page to the root of the dashboard, which may lie below another address: `./` or `../`. */
  readonly root: string;
  readonly entries: readonly NavEntry[];
  /** Path of the entry that the page belongs to. */
  readonly currentPath?: string | undefined;
  /** Absent: an anonymous viewer. */
  readonly viewer?: { readonly name: string; readonly signOutMark: string };
  /** Where the browser goes at once, without a script. */
  readonly leadsTo?: string | undefined;
};

const markShapes = '<rect width="24" height="24" rx="6"/><path d="M7 18V7h6a3.5 3.5 0 0 1 0 7H7m5 0 5 4"/>';
const productMark = new Html(`<svg viewBox="0 0 24 24" aria-hidden="true">${markShapes}</svg>`);

/** The mark of Reeve as an image, for the tab of the browser. */
export const markImage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#1f6f4a"><g stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">${markShapes.replace('<path ', '<path fill="none" stroke="#fff" ')}</g></svg>`;

/** Returns a whole page. It is complete without scripts; its policy allows our own files alone. */
export function wholePage(
  { title, content, isLive = false }: PageView,
  { root, entries, currentPath, viewer, leadsTo }: PageFrame,
): string {
  const bar = entries.map(({ path, text }) => {
    const current = path === currentPath ? html` aria-current="page"` : undefined;
    return html`<li><a href="${root}${path}"${current}>${text}</a></li>`;
  });
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
<header><div class="bar"><a class="brand" href="${root}">${productMark}Reeve</a>${signOut}</div>
${bar.length > 0 ? html`<nav aria-label="Pages"><ul>${bar}</ul></nav>` : undefined}</header>
<main id="main"><h1>${title}</h1>${content}</main></body>
</html>
`.text;
}

/** What a browser may load for a page: our style sheet, mark and script, and what that reads of us. Forms go to Reeve alone, and no site may frame it. */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
