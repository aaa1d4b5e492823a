/** An issue or pull request that a text names, and what the word before it asks for. */
export type Reference = {
  /** `owner/name` in lower case; absent for the repository that the text is in. */
  readonly repository?: string;
  readonly number: number;
  readonly asks: 'close' | 'reopen' | undefined;
};

// Standing free: what surrounds a reference is looked at and not taken, so that two may stand side by side.
const reference =
  /(?<=\s|^|\(|\[|'|")([0-9a-zA-Z-_.]+\/[0-9a-zA-Z-_.]+)?[#!]([0-9]{1,15})(?=\s|$|\)|\]|'|"|[:;,.?!](?:\s|$))/g;
const closing = /(?:\s|^|\(|\[)(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):? $/i;
const reopening = /(?:\s|^|\(|\[)reopen(?:s|ed)?:? $/i;
/** The longest word before a reference, with what surrounds it. */
const reach = 16;

/** A text full of references asks the database for no more than these. */
const maxReferences = 100;

/** Returns the references of a text, in order: `#7`, `!7` and `owner/name#7`, with the closing words of Gitea. */
export function parseReferences(text: string): readonly Reference[] {
  const references: Reference[] = [];
  for (const match of text.matchAll(reference)) {
    const before = text.slice(Math.max(0, match.index - reach), match.index);
    const repository = match[1]?.toLowerCase();
    references.push({
      ...(repository === undefined ? {} : { repository }),
      number: Number(match[2]),
      asks: closing.test(before) ? 'close' : reopening.test(before) ? 'reopen' : undefined,
    });
    if (references.length === maxReferences) break;
  }
  return references;
}

/** Returns a Markdown text without its code, which names nothing. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/```[\s\S]*?(?:```|$)/g, ' ').replace(/`[^`\n]*`/g, ' ');
}
