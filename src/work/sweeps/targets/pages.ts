import type { ListPage } from '../../../client/paging.ts';
import { ReeveError } from '../../../platform/errors.ts';

/** Pages in a row that bring nothing new before a list is said not to end. */
const maxStalePages = 20;
/** How often a list may get shorter while it is read before the sweep stops going back. */
const maxReturns = 50;

/**
 * Yields the pages of a list without what was yielded before. A list that got shorter has moved up: what stood on the
 * next page may stand on one that was read already, so those are read again. Ends with `forge-paging` where pages bring
 * nothing new for long. `seen` holds the identities of what was yielded, and grows with it.
 */
export async function* freshPages<Item>(
  open: (from: number) => AsyncGenerator<ListPage<Item>>,
  options: { from?: number; idOf: (item: Item) => unknown; seen?: Set<unknown> },
): AsyncGenerator<ListPage<Item>> {
  const { idOf, seen = new Set() } = options;
  let from: number | undefined = options.from ?? 1;
  let before: number | undefined;
  let stale = 0;
  let returns = 0;
  while (from !== undefined) {
    const start: number = from;
    from = undefined;
    for await (const page of open(start)) {
      const lost: number = before === undefined || page.total === undefined ? 0 : before - page.total;
      before = page.total ?? before;
      if (lost > 0 && page.page > 1 && returns < maxReturns) {
        returns += 1;
        from = Math.max(1, page.page - Math.ceil(lost / Math.max(page.items.length, 1)));
        if (from < page.page) break;
        from = undefined;
      }
      const items = page.items.filter((item) => !seen.has(idOf(item)));
      for (const item of items) seen.add(idOf(item));
      stale = items.length === 0 && page.items.length > 0 ? stale + 1 : 0;
      if (stale > maxStalePages) {
        throw new ReeveError('forge-paging', `the list does not end: ${stale} pages brought nothing new`);
      }
      yield { ...page, items };
    }
  }
}
