/** Draws that are the same for the same seed. */
export interface Random {
  /** A whole number below `limit`. */
  below(limit: number): number;
  /** One of these; undefined of none. */
  pick<Item>(items: readonly Item[]): Item | undefined;
  /** One of these, each as often as its weight says. */
  pickWeighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item;
}

/** Begins a row of draws (a linear congruence of 32 bits, its upper half used). */
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
