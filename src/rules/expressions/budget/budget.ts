import { type Costliest, Meter, type Pool } from '../../../patterns/meter.ts';

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
