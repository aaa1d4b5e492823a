/** Sequence of random draws that is the same for the same seed. */
export interface Random {
  /** Returns a whole number below `limit`. */
  below(limit: number): number;
  /** Returns one of the items, or undefined if there are none. */
  pick<Item>(items: readonly Item[]): Item | undefined;
  /** Returns one of the items, with a probability in proportion to its weight. */
  pickWeighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item;
}

/** Creates a sequence of draws with a 32-bit linear congruential generator, of which the upper half is used. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return {
    below,
    pick: (items) => items[below(items.length)],
    pickWeighted(items) {
      let left = below(items.reduce((sum, { weight }) => sum + weight, 0));
      for (const item of items) {
        if (left < item.weight) return item;
        left -= item.weight;
      }
      throw new Error('nothing to draw from');
    },
  };
}
