/** Part of a text: either written by the author of a rule, or inserted. */
export type TextPart = { readonly text: string; readonly isInserted: boolean };

/** Zero-width space: invisible, and prevents a forge from recognizing a reference. */
const gap = '\u200b';

/**
 * Matches `owner/repo#7` and `owner/repo!7` up to the `#` or `!`, and the URL of an issue or pull request up to its
 * number.
 */
const elsewhere = /(?<=[\w.-])[#!](?=\d)|\/(?:issues|pulls)\/(?=[+\d])/g;

/**
 * Matches the end of a word before a reference. Any word counts, because administrators of a forge choose the words
 * that close and reopen issues (`CLOSE_KEYWORDS`). In Markdown, the URL may be the target of a link, with the word
 * before the link text.
 */
const wordBefore =
  /(?<=\p{L})(?=(:?\s+(?:(?:[\w.-]+\/[\w.-]+)?[#!](?=\d)|(?:\[[^\]]{0,200}\]\()?<?(?:https?:\/)?\/[^\s<>()]{1,300}\/(?:issues|pulls)\/(?=[+\d]))))/gu;

/**
 * Returns the joined text of these parts, changed so that no inserted part makes the forge act on an issue or pull
 * request: forges close, reopen and link whatever a title, body, comment or commit message refers to, with the rights
 * of its author. A zero-width space breaks references to other repositories and URLs. `#7` and `!7` remain references:
 * only the word before them is broken. Text by the author of the rule is unchanged, including a `#` or `!` between
 * inserted texts.
 *
 * Follows `modules/references` of Gitea 1.27 and Forgejo 15.
 */
export function breakReferences(parts: readonly TextPart[]): string {
  const text = parts.map((part) => part.text).join('');
  const isInserted = insertedIn(parts);
  const gaps = new Set<number>();
  for (const match of text.matchAll(elsewhere)) {
    const end = match.index + match[0].length;
    if (isInserted(end - 1)) gaps.add(end);
  }
  for (const match of text.matchAll(wordBefore)) {
    const end = match.index + (match[1] ?? '').length;
    if (gaps.has(end)) continue;
    if (isInsertedWord(text, match.index, isInserted)) gaps.add(match.index);
    // The author of the rule wrote the word, so the reference is broken instead.
    else if (isInserted(end - 1)) gaps.add(end);
  }
  return withGaps(text, gaps);
}

function insertedIn(parts: readonly TextPart[]): (at: number) => boolean {
  let start = 0;
  const spans: { readonly start: number; readonly end: number }[] = [];
  for (const { text, isInserted } of parts) {
    if (isInserted) spans.push({ start, end: start + text.length });
    start += text.length;
  }
  return (at) => spans.some((span) => span.start <= at && at < span.end);
}

/** Maximum length of a word that is examined; words that close issues are shorter. */
const maxWord = 40;

/** Returns whether any character of the word that ends here was inserted. */
function isInsertedWord(text: string, end: number, isInserted: (at: number) => boolean): boolean {
  const [word = ''] = /\p{L}+$/u.exec(text.slice(Math.max(0, end - maxWord), end)) ?? [];
  return Array.from(word, (_, place) => end - 1 - place).some(isInserted);
}

function withGaps(text: string, gaps: ReadonlySet<number>): string {
  let [result, from] = ['', 0];
  for (const at of [...gaps].toSorted((one, other) => one - other)) {
    result += text.slice(from, at) + gap;
    from = at;
  }
  return result + text.slice(from);
}
