/** Raised where an evaluation would cost more than it may. The message names the limit and what to do. */
export class LimitExceeded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitExceeded';
  }
}

/** Units that several meters share. */
export type Pool = { left: number };

/**
 * Counts what an evaluation costs and stops it at its limit. A unit is about one nanosecond of the machine that
 * docs/benchmarks.md names; what is counted depends on the expression and its data alone, so that every machine stops at
 * the same place. A meter first spends a pool that it shares, then a reserve of its own.
 */
export class Meter {
  readonly #pool: Pool;
  readonly #describe: () => string;
  #reserve: number;
  /** Made once: a rule file may have thousands of parts that meet the limit. */
  #exceeded: LimitExceeded | undefined;

  /** `describe` says which limit was met and what to do. */
  constructor(options: {
    readonly pool: Pool;
    readonly reserve: number;
    readonly describe: () => string;
  }) {
    this.#pool = options.pool;
    this.#reserve = options.reserve;
    this.#describe = options.describe;
  }

  /** How many units are left. */
  get left(): number {
    return this.#pool.left + this.#reserve;
  }

  /** Spends units. Throws LimitExceeded where fewer are left; then nothing is spent. */
  charge(units: number): void {
    const left = this.#pool.left - units;
    if (left >= 0) this.#pool.left = left;
    else this.#spendReserve(units);
  }

  /** Throws LimitExceeded where fewer units are left. Called before work whose exact cost is known only afterwards. */
  require(units: number): void {
    if (this.#pool.left < units && this.#reserve < units) throw this.#refusal();
  }

  #spendReserve(units: number): void {
    if (this.#reserve < units) throw this.#refusal();
    this.#reserve -= units;
  }

  #refusal(): LimitExceeded {
    this.#exceeded ??= new LimitExceeded(this.#describe());
    return this.#exceeded;
  }
}

/** Returns a meter that never stops, for patterns of the operator and of the embedded forge: they are linear anyway. */
export function createUnlimitedMeter(): Meter {
  return new Meter({
    pool: { left: Number.POSITIVE_INFINITY },
    reserve: 0,
    describe: () => 'there is no limit',
  });
}
