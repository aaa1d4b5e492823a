import { type Html, html } from '../../http/html.ts';

/** Returns a whole page. It is complete without scripts, and its policy allows none. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="stylesheet" href="/assets/forge.css"></head>
<body><header><a href="/">forge</a> · <a href="/api/swagger">API</a></header><main><h1>${title}</h1>${content}</main></body>
</html>
`.text;
}

/** The one style sheet of the forge's pages. */
export const styles = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8884;vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8884;padding:.5rem}
.label{border:1px solid #888;border-radius:1rem;padding:0 .5rem}article{border-top:1px solid #8884}h2{font-size:1.1rem}details{margin:.25rem 0}
:root{color-scheme:light dark}
`;

/** What a browser may load for a page: the style sheet and nothing else. Forms go to this forge alone. */
export const policy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
