/** Items per page if the request has no limit. */
export const defaultLimit = 30;
/** Maximum items per page; larger limits are silently capped. */
export const maxLimit = 50;

/** The requested part of a list. */
export type PageRange = { readonly page: number; readonly limit: number; readonly offset: number };

/**
 * Parses `page` and `limit`. Anything but a positive number selects the default; a limit above the maximum is silently
 * capped.
 */
export function readPage(query: URLSearchParams): PageRange {
  const page = Math.max(1, readNumber(query.get('page')));
  const wanted = readNumber(query.get('limit'));
  const limit = wanted <= 0 ? defaultLimit : Math.min(wanted, maxLimit);
  return { page, limit, offset: (page - 1) * limit };
}

/**
 * Returns the number in a query parameter, or 0. The length is limited, so that an offset stays a number that SQLite
 * accepts.
 */
function readNumber(text: string | null): number {
  if (text === null || !/^[+-]?\d{1,12}$/.test(text)) return 0;
  return Number(text);
}

/**
 * Returns the headers that describe a list's length. `address` is the absolute URL of the request on ROOT_URL. With
 * `links: false`, the headers contain only the count; several lists have no links.
 */
export function pageHeaders(options: {
  total: number;
  page: PageRange;
  links: boolean;
  address: URL;
}): Readonly<Record<string, string>> {
  const { total, page, address } = options;
  const links = options.links ? linkValues(address, page, Math.ceil(total / page.limit)) : [];
  const headers: Record<string, string> = {};
  if (links.length > 0) headers.Link = links.join(',');
  headers['X-Total-Count'] = String(total);
  headers['Access-Control-Expose-Headers'] = Object.keys(headers).join(', ');
  return headers;
}

function linkValues(address: URL, page: PageRange, last: number): string[] {
  const link = (to: number, relation: string) => {
    const there = new URL(address);
    there.searchParams.set('page', String(to));
    there.searchParams.sort();
    return `<${there.href}>; rel="${relation}"`;
  };
  const links: string[] = [];
  // A page beyond the last one counts as the last page.
  const current = Math.max(1, Math.min(page.page, last));
  if (current < last) links.push(link(current + 1, 'next'), link(last, 'last'));
  if (current > 1) links.push(link(1, 'first'), link(current - 1, 'prev'));
  return links;
}
