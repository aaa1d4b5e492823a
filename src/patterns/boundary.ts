import { assertion, opcode, type Program } from './program.ts';

/** Stands for the character after the last one. */
export const endOfText = -1;
const newline = 10;

/** What the next assertion of a program needs to know of the text before it. */
const context = { begin: 1, newline: 2, word: 4 } as const;
/** The context at the beginning of a text. */
export const contextAtBegin = context.begin | context.newline;

/** Returns the contexts that the assertions of a program ask for; others would only multiply its states. */
export function contextsOf({ ops, other }: Program): number {
  let contexts = 0;
  for (const [place, flags] of other.entries()) {
    if (ops[place] !== opcode.assert) continue;
    if ((flags & assertion.beginText) !== 0) contexts |= context.begin;
    if ((flags & assertion.beginLine) !== 0) contexts |= context.newline;
    if ((flags & (assertion.wordBoundary | assertion.noWordBoundary)) !== 0) contexts |= context.word;
  }
  return contexts;
}

/** Returns the context after a character. */
export function contextAfter(rune: number): number {
  if (rune === newline) return context.newline;
  return isWord(rune) ? context.word : 0;
}

/** Returns the assertions that hold between a context and the next character. */
export function flagsBetween(before: number, rune: number): number {
  let flags = 0;
  if ((before & context.begin) !== 0) flags |= assertion.beginText;
  if ((before & context.newline) !== 0) flags |= assertion.beginLine;
  if (rune === endOfText) flags |= assertion.endText | assertion.endLine;
  if (rune === newline) flags |= assertion.endLine;
  const atBoundary = ((before & context.word) !== 0) !== (rune !== endOfText && isWord(rune));
  return flags | (atBoundary ? assertion.wordBoundary : assertion.noWordBoundary);
}

function isWord(rune: number): boolean {
  return (
    (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95
  );
}
