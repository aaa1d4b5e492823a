/** What an expression and its values may be; the reference shows this table. */
export const limits = {
  /** Characters of one expression. */
  expression: 2_000,
  /** Names, literals, operators and calls of one expression. */
  parts: 400,
  /** Expressions inside of each other. */
  depth: 24,
  /** Items of a list that is written out. */
  listItems: 100,
  /** Entries of a map that is written out. */
  mapEntries: 20,
  /** Arguments of a call. */
  callArguments: 8,
  /** Loops of one expression. */
  loops: 20,
  /** Loops inside of each other. */
  loopDepth: 2,
  /** Items of a list that is judged. */
  items: 10_000,
  /** Members of an object that is judged. Objects of a forge have fewer than a hundred; listing more takes long. */
  members: 500,
  /** UTF-16 units of a text that is judged. */
  text: 256 * 1024,
  /** UTF-16 units of a text that is searched for in another; a longer one would multiply with the text searched. */
  needle: 1_024,
  /** Bytes of what a template inserts. */
  inserted: 1_024,
  /** The same for a text of lines. */
  insertedLines: 8_192,
} as const;
