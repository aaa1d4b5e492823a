/** Characters of a text that are shown. */
const maxShown = 60;

/**
 * Returns an untrusted text as a code span of Markdown on one line. It cannot end the span, and names no account, issue or
 * pull request: forges look for these in code as well where they parse it differently, so an invisible space ends each sign.
 */
export function asCode(text: string): string {
  const plain = text
    .slice(0, 8 * maxShown)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const signs = [...plain];
  const short = signs.length > maxShown ? `${signs.slice(0, maxShown).join('')}…` : plain;
  const quiet = short.replace(/[@#!]/g, '$&\u200b');
  const runs = [...quiet.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  // A space at both ends is not shown, and keeps the backticks of the text apart from those of the span.
  const content = runs.length > 0 || quiet === '' ? ` ${quiet} ` : quiet;
  return `${fence}${content}${fence}`;
}
