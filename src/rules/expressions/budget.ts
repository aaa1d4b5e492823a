import { type Costliest, Meter, type Pool } from '../../patterns/meter.ts';

/**
 * Cost of evaluation steps. One unit is about one nanosecond, as measured by `scripts/calibrate.ts`. The cost is
 * charged before the work is done, and applies to any kind of value.
 */
export const costs = {
  /** An operator, a member access, an index access or a conditional. */
  step: 60,
  /** A function call, without the work on its arguments. */
  call: 150,
  /** Testing a text against a pattern, without the match itself. */
  match: 40,
  /** One iteration of a loop. */
  item: 50,
  /** Creating an error with its message. */
  failure: 80,
  /** Parsing a text as an instant, a duration or a number. */
  parse: 400,
  /** A leaf of a condition, including the lookup of its names. */
  part: 300,
  /** Formatting a value for evidence. */
  reading: 400,
  /** Formatting a list or object for evidence. */
  longReading: 6_000,
  /** A character that is copied or compared. */
  copiedCharacter: 0.25,
  /** A character that is converted. */
  changedCharacter: 1,
  /** A character that is counted, searched or split. */
  searchedCharacter: 4,
  /** A character inserted by a template, including sanitizing. */
  insertedCharacter: 40,
  /** A list item or object member that is copied or compared. */
  member: 50,
  /** A member of an object with more than a hundred members that is copied or compared. */
  hashedMember: 150,
  /** A list item, or an object member with its name, that is formatted as text. */
  writtenMember: 150,
  /** Formatting a date in a timezone. */
  timezone: 4_000,
} as const;

/** Limits on expressions and their values; listed in the reference. */
export const limits = {
  /** Maximum number of characters per expression. */
  expression: 2_000,
  /** Maximum number of names, literals, operators and calls per expression. */
  parts: 400,
  /** Maximum nesting depth of expressions. */
  depth: 24,
  /** Maximum number of items in a list literal. */
  listItems: 100,
  /** Maximum number of entries in a map literal. */
  mapEntries: 20,
  /** Maximum number of arguments in a call. */
  callArguments: 8,
  /** Maximum number of loops per expression. */
  loops: 20,
  /** Maximum nesting depth of loops. */
  loopDepth: 2,
  /** Maximum number of items in a list value. */
  items: 10_000,
  /**
   * Maximum number of members in an object value. Objects of a forge have fewer than a hundred members; much larger
   * objects take long to list.
   */
  members: 500,
  /** Maximum length of a text value, in UTF-16 units. */
  text: 256 * 1024,
  /** Maximum length of a search text, in UTF-16 units, because the cost of a search is the product of both lengths. */
  needle: 1_024,
  /** Maximum number of bytes that one expression inserts into a text. */
  inserted: 1_024,
  /** Maximum number of bytes that one expression inserts into a multi-line text. */
  insertedLines: 8_192,
} as const;

/**
 * Units for the expressions and patterns of one run, shared by all sources of rules. At about one nanosecond per unit,
 * a run stays well within its limit of 50 ms; measured by `node scripts/calibrate.ts`.
 */
export const unitsPerRun = 24_000_000;
/** Units for evaluating the `in` of a rule in one sweep, over all items. */
const unitsPerSweep = 200_000_000;

/** A source of rules: the operator, an organization or a repository. Rules from one source share a budget. */
export type BudgetSource = {
  /** Key of the budget; rules with the same key share it. */
  readonly key: string;
  /** Description of the rules, for messages. */
  readonly title: string;
  /** Units reserved for each rule, in addition to the shared part. */
  readonly unitsPerRule: number;
};

/**
 * The evaluation budget of one run. The sources of the run's rules get equal shares, so that a repository's file cannot
 * use up the budget of the operator's rules. Within a source, each rule has its own reserve, so that a costly rule does
 * not stop other rules, and the budget grows with the number of operator rules.
 */
export class RunBudget {
  readonly #pools: ReadonlyMap<string, Pool>;
  readonly #share: number;

  /** `sources`: the sources of all rules that may be evaluated in the run. */
  constructor(sources: Iterable<BudgetSource>) {
    const keys = new Set(Array.from(sources, ({ key }) => key));
    this.#share = Math.floor(unitsPerRun / Math.max(1, keys.size));
    this.#pools = new Map(Array.from(keys, (key) => [key, { left: this.#share }]));
  }

  /** Returns the meter of a rule for this run. */
  meterFor({ key, title, unitsPerRule }: BudgetSource, rule: string): Meter {
    const pool = this.#pools.get(key) ?? { left: 0 };
    const describe = (costliest: Costliest | undefined): string =>
      describeLimit(title, this.#share, costliest);
    return new Meter({ pool, reserve: unitsPerRule, describe, owner: `rule ${rule}` });
  }
}

/** Returns the meter for the `in` of a rule while a sweep filters its items. */
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
