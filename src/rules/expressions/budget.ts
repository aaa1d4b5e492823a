import { type Costliest, Meter, type Pool } from '../../patterns/meter.ts';

/**
 * Cost of evaluation in units of about one nanosecond, measured by `scripts/calibrate.ts`. Charged before the work is
 * done, for any value.
 */
export const costs = {
  /** An operator, a member access, an index, a conditional. */
  step: 60,
  /** A function call, without the work on its arguments. */
  call: 150,
  /** A text tested against a pattern, without the match itself. */
  match: 40,
  /** An iteration of a loop. */
  item: 50,
  /** An error with its message. */
  failure: 80,
  /** Parsing a text as an instant, a duration or a number. */
  parse: 400,
  /** A leaf of a condition, with the lookup of its names. */
  part: 300,
  /** A value formatted for evidence. */
  reading: 400,
  /** A list or object formatted for evidence. */
  longReading: 6_000,
  /** A character that is copied or compared. */
  copiedCharacter: 0.25,
  /** A character that is converted. */
  changedCharacter: 1,
  /** A character that is counted, searched or split. */
  searchedCharacter: 4,
  /** A character inserted by a template, with sanitizing. */
  insertedCharacter: 40,
  /** An item of a list or a member of an object that is copied or compared. */
  member: 50,
  /** The same for an object with more than a hundred members. */
  hashedMember: 150,
  /** An item of a list or a member of an object with its name, formatted as text. */
  writtenMember: 150,
  /** A date formatted in a timezone. */
  timezone: 4_000,
} as const;

/** Limits of expressions and their values; listed in the reference. */
export const limits = {
  /** Characters per expression. */
  expression: 2_000,
  /** Names, literals, operators and calls per expression. */
  parts: 400,
  /** Nesting depth of expressions. */
  depth: 24,
  /** Items of a list literal. */
  listItems: 100,
  /** Entries of a map literal. */
  mapEntries: 20,
  /** Arguments of a call. */
  callArguments: 8,
  /** Loops per expression. */
  loops: 20,
  /** Nesting depth of loops. */
  loopDepth: 2,
  /** Items of a list value. */
  items: 10_000,
  /** Members of an object value. Objects of a forge have fewer than a hundred; listing more takes long. */
  members: 500,
  /** UTF-16 units of a text value. */
  text: 256 * 1024,
  /** UTF-16 units of a search text; the cost of a search multiplies both lengths. */
  needle: 1_024,
  /** Bytes that a template inserts for one expression. */
  inserted: 1_024,
  /** The same for multi-line text. */
  insertedLines: 8_192,
} as const;

/**
 * Units for the expressions and patterns of one run, all sources together. With about a nanosecond per unit, a run
 * stays well within its 50 ms; measured by `node scripts/calibrate.ts`.
 */
export const unitsPerRun = 24_000_000;
/** Units for the `in` of a rule in one sweep, over all items. */
const unitsPerSweep = 200_000_000;

/** A source of rules that share a budget. */
export type BudgetSource = {
  /** Rules with the same key share the budget. */
  readonly key: string;
  /** Description of the rules, for messages. */
  readonly title: string;
  /** Reserve of each rule in units, in addition to the shared part. */
  readonly unitsPerRule: number;
};

/**
 * The evaluation budget of one run. The sources of its rules get equal shares, so that a repository's file cannot use
 * up the budget of the operator's rules. Within a source, each rule has a reserve of its own, so that one costly rule
 * cannot stop the cheap ones, and the budget grows with the number of the operator's rules.
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

  /** Returns the meter of one rule for this run. */
  meterFor({ key, title, unitsPerRule }: BudgetSource, rule: string): Meter {
    const pool = this.#pools.get(key) ?? { left: 0 };
    const describe = (costliest: Costliest | undefined): string =>
      describeLimit(title, this.#share, costliest);
    return new Meter({ pool, reserve: unitsPerRule, describe, owner: `rule ${rule}` });
  }
}

/** Returns the meter for the `in` of a rule while a sweep searches its items. */
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
