/** Does the work for all items, some at once. The first error ends it, once what was begun has ended. */
export async function mapConcurrently<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  let failure: { readonly error: unknown } | undefined;
  const hand = async (): Promise<void> => {
    for (const item of waiting) {
      if (failure) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, hand));
  if (failure) throw failure.error;
}
