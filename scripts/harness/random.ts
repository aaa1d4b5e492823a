/** Source of random numbers that are the same for the same seed. */
export interface Random {
  /** Returns a whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value;
  chance(share: number): boolean;
}

/** Creates a source of random numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick(values) {
      if (values.length === 0) throw new Error('there is nothing to pick from');
      return values[below(values.length)] as (typeof values)[number];
    },
    chance: (share) => next() < share,
  };
}
