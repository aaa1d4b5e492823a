import { createHash } from 'node:crypto';

/** Longest text in an index: a page of the server holds at least three of them. */
const maxKeyLength = 500;

/**
 * Returns a text that PostgreSQL can hold: NUL, which it refuses together with the whole statement, and lone surrogates become
 * U+FFFD.
 */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** The same for a text that may be absent. */
export function storableOrNull(text: string | undefined | null): string | null {
  return text === undefined || text === null ? null : storableText(text);
}

/** Returns a storable text for a column with an index, which takes no long ones: those end with their digest. */
export function indexableText(text: string): string {
  const storable = storableText(text);
  if (storable.length <= maxKeyLength) return storable;
  const digest = createHash('sha256').update(storable).digest('hex');
  return `${storable.slice(0, maxKeyLength).toWellFormed()}… ${digest}`;
}
