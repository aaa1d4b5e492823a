import { type Html, html } from '../http/html.ts';

/** What a page shows. */
export type PageView = {
  readonly title: string;
  readonly content: Html;
  /** Status of the answer to a form; default: 200. */
  readonly status?: number;
};

/** One entry of the bar on top of every page. */
export type NavEntry = { readonly path: string; readonly text: string };

/** Whom a page is for, and what else the frame around it shows. */
export type PageFrame = {
  /** The way from this page to the root of the dashboard, which may lie below another address: `./` or `../`. */
  readonly root: string;
  readonly entries: readonly NavEntry[];
  /** Absent: an anonymous viewer. */
  readonly viewer?: { readonly name: string; readonly signOutMark: string };
  /** Where the browser goes at once, without a script. */
  readonly leadsTo?: string | undefined;
};

/** Returns a whole page. It is complete without scripts, and its policy allows none. */
export function wholePage(
  { title, content }: PageView,
  { root, entries, viewer, leadsTo }: PageFrame,
): string {
  const bar = entries.map(({ path, text }) => html`<li><a href="${root}${path}">${text}</a></li>`);
  const leaving = leadsTo && html`<meta http-equiv="refresh" content="0; url=${leadsTo}">`;
  const signOut =
    viewer &&
    html`<form method="post" action="${root}sign-out"><input type="hidden" name="mark" value="${viewer.signOutMark}">
<span>${viewer.name}</span> <button>Sign out</button></form>`;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${leaving || undefined}
<title>${title} · Reeve</title><link rel="stylesheet" href="${root}assets/dashboard.css"></head>
<body><a class="skip" href="#main">Skip to the page</a>
<header><nav aria-label="Pages"><ul>${bar}</ul></nav>${signOut}</header>
<main id="main"><h1>${title}</h1>${content}</main></body>
</html>
`.text;
}

/** Returns an instant as people read it, in UTC. */
export function timeTag(at: Date | string | undefined): Html | undefined {
  if (at === undefined) return undefined;
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** Returns a table; without rows, what is said instead. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (Html | string | number | undefined)[])[],
  empty: string,
): Html {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  const head = heads.map((text) => html`<th scope="col">${text}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`);
  return html`<div class="wide" tabindex="0" role="group" aria-label="${heads.join(', ')}"><table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

/** The one style sheet. */
export const styleSheet = `:root{color-scheme:light dark;--line:#8886;--soft:#8882;background:light-dark(#fff,#16181c);color:light-dark(#1b1b1b,#e8e8e8)}
a{color:light-dark(#0b4fad,#8ab4f8)}
main{overflow-wrap:anywhere}body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:0 auto;padding:0 1rem 3rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 2rem;justify-content:space-between;align-items:center;border-bottom:1px solid var(--line);padding:.75rem 0}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:0;padding:0}
h1{font-size:1.5rem;overflow-wrap:anywhere}summary{overflow-wrap:anywhere}h2{font-size:1.2rem;margin-top:2rem}h3{font-size:1rem;margin-bottom:.25rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.25rem;background:Canvas;padding:.25rem .5rem}
.wide{overflow-x:auto}table{border-collapse:collapse;min-width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere}td time{white-space:nowrap}
code,pre{font:.875rem/1.5 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.75rem;max-height:40rem;overflow:auto}
.mark{border:1px solid currentColor;border-radius:.75rem;padding:0 .5rem;font-size:.875rem;white-space:nowrap}
.dead,.failed,.offline,.refused{color:light-dark(#a40000,#ff9a9a)}.settled,.applied,.matched,.online{color:light-dark(#0a5c1e,#86dfa0)}
form.filter{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end}form.filter label{display:grid}
button,input,select{font:inherit;padding:.25rem .6rem}dl{display:grid;grid-template-columns:fit-content(45%) minmax(0,1fr);gap:.15rem 1.5rem}dd{margin:0;overflow-wrap:anywhere}
[role=alert]{border-left:.25rem solid #c60000;padding-left:.75rem}
`;

/** What a browser may load for a page: the style sheet and nothing else. Forms go to Reeve alone, and no site may frame it. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
