/** Thrown when an evaluation would exceed its limit. The message names the limit and the remedy. */
export class LimitExceeded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitExceeded';
  }
}

/** A part of an evaluation, as text, and the units that it cost. */
export type Costliest = { readonly part: string; readonly units: number };

/** Units shared by several meters, and the part that has used the most units. */
export type Pool = { left: number; costliest?: Costliest };

/**
 * Counts the cost of an evaluation and stops the evaluation at its limit. A unit is about one nanosecond on the machine
 * in docs/benchmarks.md. The count depends only on the expression and its data, so evaluation stops at the same point
 * on every machine. A meter first uses a shared pool, then its own reserve.
 */
export class Meter {
  readonly #pool: Pool;
  readonly #describe: (costliest: Costliest | undefined) => string;
  readonly #owner: string;
  #reserve: number;
  #spent = 0;
  #part: { readonly name: string; readonly within: string; readonly from: number } | undefined;
  /** Created only once, because a rule file may contain thousands of parts that exceed the limit. */
  #exceeded: LimitExceeded | undefined;

  /**
   * `describe` returns a text that names the exceeded limit, the part that used most of the pool, and the remedy.
   * `owner` is the text that describes the owner of the parts.
   */
  constructor(options: {
    readonly pool: Pool;
    readonly reserve: number;
    readonly describe: (costliest: Costliest | undefined) => string;
    readonly owner?: string | undefined;
  }) {
    this.#pool = options.pool;
    this.#reserve = options.reserve;
    this.#describe = options.describe;
    this.#owner = options.owner ?? '';
  }

  /** Remaining units. */
  get left(): number {
    return this.#pool.left + this.#reserve;
  }

  /** Sets the part that the following charges belong to, for example `sync.docs` within `step 1 set-labels`. */
  enter(name: string, within = ''): void {
    this.#leave();
    this.#part = { name, within, from: this.#spent };
  }

  #leave(): void {
    if (this.#part === undefined) return;
    const { name, within, from } = this.#part;
    const units = this.#spent - from;
    if (units <= (this.#pool.costliest?.units ?? 0)) return;
    const part = [name, within, this.#owner].filter((words) => words !== '').join(' of ');
    this.#pool.costliest = { part, units };
  }

  /** Uses units. Throws LimitExceeded if fewer units are left; in that case, none are used. */
  charge(units: number): void {
    const left = this.#pool.left - units;
    if (left >= 0) this.#pool.left = left;
    else this.#spendReserve(units);
    this.#spent += units;
  }

  /**
   * Throws LimitExceeded if fewer units are left than given. Called before work whose exact cost is known only
   * afterwards.
   */
  require(units: number): void {
    if (this.#pool.left < units && this.#reserve < units) throw this.#refusal();
  }

  #spendReserve(units: number): void {
    if (this.#reserve < units) throw this.#refusal();
    this.#reserve -= units;
  }

  #refusal(): LimitExceeded {
    if (this.#exceeded === undefined) {
      this.#leave();
      this.#exceeded = new LimitExceeded(this.#describe(this.#pool.costliest));
    }
    return this.#exceeded;
  }
}

/**
 * Returns a meter without a limit, for patterns of the operator and of the embedded forge. Matching them takes only
 * linear time.
 */
export function createUnlimitedMeter(): Meter {
  return new Meter({
    pool: { left: Number.POSITIVE_INFINITY },
    reserve: 0,
    describe: () => 'there is no limit',
  });
}
