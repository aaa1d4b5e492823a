/** Items of a page where the request names no limit. */
export const defaultLimit = 30;
/** Items of a page at most; more is capped in silence. */
export const maxLimit = 50;

/** Which part of a list was asked for. */
export type PageRange = { readonly page: number; readonly limit: number; readonly offset: number };

/** Reads `page` and `limit`: anything that is no positive number means the default; the limit is capped in silence. */
export function readPage(query: URLSearchParams): PageRange {
  const page = Math.max(1, readNumber(query.get('page')));
  const wanted = readNumber(query.get('limit'));
  const limit = wanted <= 0 ? defaultLimit : Math.min(wanted, maxLimit);
  return { page, limit, offset: (page - 1) * limit };
}

/** Bounded, so that an offset stays a number SQLite takes. */
function readNumber(text: string | null): number {
  if (text === null || !/^[+-]?\d{1,12}$/.test(text)) return 0;
  return Number(text);
}

/**
 * Returns the headers that tell a list's length. `address` is the absolute address of the request on ROOT_URL;
 * `links: false` gives the count alone, as several lists do.
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
  // A page beyond the last one counts as the last one.
  const current = Math.max(1, Math.min(page.page, last));
  if (current < last) links.push(link(current + 1, 'next'), link(last, 'last'));
  if (current > 1) links.push(link(1, 'first'), link(current - 1, 'prev'));
  return links;
}
