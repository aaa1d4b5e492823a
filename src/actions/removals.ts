/** Removed without a question, however few there are; beyond it, a quarter of what is there. */
const few = 5;

/**
 * Returns its argument: what a rule that says `prune` would remove. Throws where that is more than 5 and more than a
 * quarter of what is there: a list that was cut, or a file that was emptied by mistake, must not take everything along.
 */
export function withinRemovals<Item>(removed: readonly Item[], there: number, what: string): readonly Item[] {
  const most = Math.max(few, Math.floor(there / 4));
  if (removed.length <= most) return removed;
  throw new Error(
    `prune would remove ${removed.length} of ${there} ${what}, and at most ${most} may go at once: remove some by hand, or list them`,
  );
}
