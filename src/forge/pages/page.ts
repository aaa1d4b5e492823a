import { type Html, html } from '../../platform/http/html.ts';

/** Content of a page. `nav` contains links to the other pages of a repository. */
export type PageContent = { readonly title: string; readonly content: Html; readonly nav?: Html };

/** Returns a complete HTML page. The page works without scripts, which the content security policy forbids. */
export function page({ title, content, nav }: PageContent): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>
<link rel="stylesheet" href="/assets/forge.css"></head>
<body><header><a href="/">forge</a> · <a href="/api/swagger">API</a></header>${nav}<main><h1>${title}</h1>${content}</main></body>
</html>
`.text;
}

/** The only style sheet of the forge's pages. */
export const styles = `:root{color-scheme:light dark;background:light-dark(#fff,#14171b);color:light-dark(#1b1f24,#e6e9ee)}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.1rem}h3{font-size:1rem}
a{color:light-dark(#0550ae,#79b8ff)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0 0 .5rem;margin:.25rem 0 0;border-bottom:1px solid #8884}
nav li{white-space:nowrap}nav p{margin:.5rem 0 0}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .375rem;border-bottom:1px solid #8884;vertical-align:top;min-width:2.75rem}
th,.short{white-space:nowrap}
pre{white-space:pre-wrap;border:1px solid #8884;border-radius:.25rem;padding:.5rem;margin:.5rem 0;font-size:.875rem}
pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace}code{font-size:.9em}
.label{display:inline-block;border:1px solid #888;border-radius:1rem;padding:0 .5rem;font-size:.875rem}.label svg{width:.7rem;height:.7rem}
article{border-top:1px solid #8884}article:target{outline:2px solid #8888}details{margin:.25rem 0}summary{cursor:pointer}
.add,.del,.hunk{display:block}.add{background:light-dark(#dafbe1,#0f3d20)}.del{background:light-dark(#ffebe9,#5a1e1e)}
.hunk,.muted{color:light-dark(#57606a,#9aa4af)}
.success{color:light-dark(#116329,#56d364)}.failure,.error{color:light-dark(#a40e26,#ff8a80)}.pending,.warning{color:light-dark(#7a4b00,#e3b341)}
input,textarea,select,button{font:inherit;max-width:100%;box-sizing:border-box}
form p{margin:.5rem 0}label{display:block}.wide{width:100%}
`;

/** Content security policy of a page: it may load only the style sheet, and send forms only to this forge. */
export const policy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
