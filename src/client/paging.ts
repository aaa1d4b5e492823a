import type { AnyInput, Operation } from '../contract/operation.ts';
import { ReeveError } from '../platform/errors.ts';
import type { ForgeAnswer } from './failure.ts';

const maxPages = 2_000;
const itemsPerPage = 50;
/** Items may be hidden after paging: without a total, one empty page does not mark the end. */
const emptyPagesAtEnd = 2;

/** One page of a list. `total` is the length of the whole list, if the forge sends it. */
export type ListPage<Item = unknown> = {
  readonly page: number;
  readonly items: readonly Item[];
  readonly total: number | undefined;
};

/** Requests one page. */
type AskPage = (input: AnyInput) => Promise<{ answer: ForgeAnswer; value: unknown }>;

/** Yields the items of a list over all its pages. */
export async function* eachItem(
  operation: Operation,
  input: AnyInput,
  ask: AskPage,
): AsyncGenerator<unknown> {
  for await (const { items } of eachPage(operation, input, ask)) yield* items;
}

/**
 * Yields the pages of a list, starting at the given one.
 *
 * The `Link` header is never followed: it is an absolute URL with the forge's configured host, which may not be the one
 * we use. Only the presence of `rel="next"` is read, and the next URL is built here. Without `Link` the total decides,
 * and without a total the first empty page. Lists are filtered after paging, so a short page does not mark the end.
 */
export async function* eachPage(
  operation: Operation,
  input: AnyInput,
  ask: AskPage,
  from = 1,
): AsyncGenerator<ListPage> {
  if (operation.paging === undefined) {
    yield { page: 1, items: listItems((await ask(input)).value), total: undefined };
    return;
  }
  const limit = Number(input.query?.limit ?? itemsPerPage);
  let seen = (from - 1) * limit;
  let previous = '';
  let empty = 0;
  for (let page = from; ; page += 1) {
    if (page > maxPages) throw stuck(operation, `more than ${maxPages} pages`);
    const { answer, value } = await ask({ ...input, query: { ...input.query, limit, page } });
    const items = listItems(value);
    if (items.length > 0 && answer.text === previous)
      throw stuck(operation, `page ${page} repeats the previous one`);
    previous = answer.text;
    seen += items.length;
    if (operation.paging === 'page-count') {
      yield { page, items, total: undefined };
      empty = items.length === 0 ? empty + 1 : 0;
      if (empty === emptyPagesAtEnd) return;
      continue;
    }
    yield { page, items, total: totalOf(answer, value) };
    if (!goesOn(answer, value, items.length, seen)) return;
  }
}

function goesOn(answer: ForgeAnswer, value: unknown, count: number, seen: number): boolean {
  const link = answer.header('link');
  if (link !== null) return /rel="?next"?/.test(link);
  const total = totalOf(answer, value);
  if (total !== undefined && seen >= total) return false;
  return count > 0;
}

function totalOf(answer: ForgeAnswer, value: unknown): number | undefined {
  const total = Number(answer.header('x-total-count') ?? totalIn(value) ?? Number.NaN);
  return Number.isNaN(total) ? undefined : total;
}

function totalIn(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'total_count' in value
    ? value.total_count
    : undefined;
}

/** A list response is an array, or (runners) an object that contains one. */
function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const inner =
    typeof value === 'object' && value !== null ? Object.values(value).find(Array.isArray) : undefined;
  return inner ?? [];
}

function stuck(operation: Operation, why: string): ReeveError {
  return new ReeveError(
    'forge-paging',
    `${operation.method} ${operation.path}: the list does not end: ${why}`,
  );
}
