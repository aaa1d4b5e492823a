/**
 * Shortens a text to columns, with an ellipsis: a character beyond Latin takes two columns. As on the baseline, a text of no more
 * bytes than columns is whole.
 */
export function shortenToColumns(text: string, columns: number): string {
  if (Buffer.byteLength(text) <= columns) return text;
  let used = 0;
  let kept = '';
  for (const character of text) {
    const width = (character.codePointAt(0) ?? 0) > 255 ? 2 : 1;
    if (used + width + 3 <= columns) kept += character;
    used += width;
    if (used > columns) return `${kept}…`;
  }
  return text;
}
