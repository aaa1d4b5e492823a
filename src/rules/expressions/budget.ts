import { type Costliest, Meter, type Pool } from '../../patterns/meter.ts';

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

/**
 * Units that the expressions and patterns of one run may cost, all sources together. A unit is about a nanosecond, so
 * that a run ends well within the 50 ms that it may take; `node scripts/calibrate.ts` measures it.
 */
export const unitsPerRun = 24_000_000;
/** Units that the `in` of a rule may cost in one sweep, over all items. */
const unitsPerSweep = 200_000_000;

/** Whose rules share a budget. */
export type BudgetSource = {
  /** Rules with the same key share. */
  readonly key: string;
  /** The rules in words, for messages. */
  readonly title: string;
  /** Units that each of the rules has for itself beyond the share of their source. */
  readonly unitsPerRule: number;
};

/**
 * What the expressions and patterns of one run may cost. The sources of its rules have equal shares, so that the file of
 * a repository cannot spend what the operator's rules need. Within a source, each rule has a reserve of its own, so that
 * one costly rule cannot stop the cheap ones, and a thousand rules of the operator have more than one rule has.
 */
export class RunBudget {
  readonly #pools: ReadonlyMap<string, Pool>;
  readonly #share: number;

  /** Takes the sources of all rules that may be evaluated in the run. */
  constructor(sources: Iterable<BudgetSource>) {
    const keys = new Set(Array.from(sources, ({ key }) => key));
    this.#share = Math.floor(unitsPerRun / Math.max(1, keys.size));
    this.#pools = new Map(Array.from(keys, (key) => [key, { left: this.#share }]));
  }

  /** Returns the meter of one rule, good for this run. */
  meterFor({ key, title, unitsPerRule }: BudgetSource, rule: string): Meter {
    const pool = this.#pools.get(key) ?? { left: 0 };
    const describe = (costliest: Costliest | undefined): string =>
      describeLimit(title, this.#share, costliest);
    return new Meter({ pool, reserve: unitsPerRule, describe, owner: `rule ${rule}` });
  }
}

/** Returns the meter that the scope of a rule is paid for by while a sweep looks for its items. */
export function createSweepMeter({ title }: BudgetSource): Meter {
  const pool = { left: unitsPerSweep };
  return new Meter({ pool, reserve: 0, describe: () => describeLimit(title, unitsPerSweep) });
}

function describeLimit(title: string, units: number, costliest?: Costliest): string {
  const million = `${Math.round(units / 1_000_000)} million units`;
  const most =
    costliest === undefined
      ? ''
      : `, and ${costliest.part} used most of it (${describeShare(costliest.units / units)})`;
  return `the evaluation budget of ${title} is used up (${million} for one run)${most}: make the costly expressions cheaper, such as by anchoring a pattern with ^, or ask for less; see docs/reference/limits.md`;
}

function describeShare(share: number): string {
  const percent = Math.min(Math.round(share * 100), 100);
  return percent === 0 ? 'less than 1 %' : `${percent} %`;
}
