/**
 * What evaluating costs, in units of about one nanosecond (`scripts/calibrate.ts` measures them). Charged before the work
 * is done, whatever the value turns out to be.
 */
export const costs = {
  /** An operator, a member, an index, a choice. */
  step: 60,
  /** A function, beside what it does with its arguments. */
  call: 150,
  /** A text that is held against a pattern, beside the match itself. */
  match: 40,
  /** An item that a loop takes. */
  item: 50,
  /** A part of an expression that fails, and says why. */
  failure: 80,
  /** A text that is read as an instant, a duration or a number. */
  parse: 400,
  /** A part of a condition that is asked, with its names looked up. */
  part: 300,
  /** A value that is written into a finding. */
  reading: 400,
  /** A list or object that is written into a finding. */
  longReading: 6_000,
  /** A character that is copied or compared. */
  copiedCharacter: 0.25,
  /** A character that is changed. */
  changedCharacter: 1,
  /** A character that is counted, searched, or looked at for where to split. */
  searchedCharacter: 4,
  /** A character that a template inserts, with what is unwanted taken out. */
  insertedCharacter: 40,
  /** An item of a list, or a member of an object, that is copied or compared. */
  member: 50,
  /** The same for an object with more than a hundred members. */
  hashedMember: 150,
  /** An item of a list, or a member of an object, that is written into a text, with its name. */
  writtenMember: 150,
  /** A date written in a timezone. */
  timezone: 4_000,
} as const;
