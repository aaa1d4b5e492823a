import type { Reply, Side } from './side.ts';

/**
 * Difference between two responses to one request. `at`: `status`, a header, or a field of the body
 * (`body.labels[].color`).
 */
export type Difference = { readonly at: string; readonly ours: string; readonly theirs: string };

/** Headers that a client reads; others (date, cookies, caches) are specific to each server. */
const headers = [
  'content-type',
  'content-disposition',
  'link',
  'x-total-count',
  'x-hasmore',
  'x-content-type-options',
  'allow',
  'location',
] as const;
/** Headers that count rows of the whole instance. */
const counting = new Set(['link', 'x-total-count']);
/** Maximum number of differences reported for one response. */
const most = 20;

/**
 * Returns the differences between two responses, after parts that necessarily differ (addresses, row numbers, times,
 * random values) have been made equal.
 */
export function compareReplies(
  ours: { readonly side: Side; readonly reply: Reply },
  theirs: { readonly side: Side; readonly reply: Reply },
  options: { readonly run: string; readonly isInstanceWide: boolean; readonly isUnordered: boolean },
): readonly Difference[] {
  const found: Difference[] = [];
  const note = (at: string, one: unknown, other: unknown): void => {
    if (found.length < most) found.push({ at, ours: show(one), theirs: show(other) });
  };
  if (ours.reply.status !== theirs.reply.status) {
    note('status', `${ours.reply.status} ${ours.reply.text}`, `${theirs.reply.status} ${theirs.reply.text}`);
    return found;
  }
  for (const name of headers) {
    if (options.isInstanceWide && counting.has(name)) continue;
    const [one, other] = [ours, theirs].map(({ side, reply }) =>
      plain(side, reply.headers.get(name) ?? '', name),
    );
    if (one !== other) note(name, one, other);
  }
  const [one, other] = [ours, theirs].map(({ side, reply }) => bodyOf(side, reply, options));
  compareValues(one, other, 'body', note);
  return found;
}

type Note = (at: string, ours: unknown, theirs: unknown) => void;

function compareValues(ours: unknown, theirs: unknown, at: string, note: Note): void {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) note(`${at}.length`, ours.length, theirs.length);
    for (let index = 0; index < Math.min(ours.length, theirs.length); index += 1)
      compareValues(ours[index], theirs[index], `${at}[]`, note);
    return;
  }
  if (isRecord(ours) && isRecord(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)]))
      compareValues(ours[key], theirs[key], `${at}.${key}`, note);
    return;
  }
  if (ours !== theirs) note(at, ours, theirs);
}

/**
 * Returns the body of a response with everything that necessarily differs replaced. The bytes of archives are not
 * compared, only their headers.
 */
function bodyOf(
  side: Side,
  reply: Reply,
  options: { run: string; isInstanceWide: boolean; isUnordered: boolean },
): unknown {
  const type = reply.headers.get('content-type') ?? '';
  if (/zip|octet-stream|tar/.test(type)) return undefined;
  if (reply.json === undefined) return plain(side, reply.text, '');
  const value = options.isInstanceWide ? ownRows(reply.json, options.run) : reply.json;
  const plainValue = plainDeep(side, value, '');
  if (!options.isUnordered || !Array.isArray(plainValue)) return plainValue;
  // If there are more pages, it is undefined which rows of the same second are on this page.
  const isCut = Number(reply.headers.get('x-total-count') ?? 0) > plainValue.length;
  return isCut ? plainValue.map(() => undefined) : sorted(plainValue);
}

function sorted(items: readonly unknown[]): readonly unknown[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ item }) => item);
}

/**
 * Returns a sort key that starts with the texts of a row, so that an explained difference in one part does not move the
 * row.
 */
function keyOf(item: unknown): string {
  const texts = isRecord(item)
    ? Object.values(item).filter((one) => typeof one === 'string' && one !== '<id>')
    : [];
  return JSON.stringify([texts, item]);
}

function ownRows(value: unknown, run: string): unknown {
  const isOwn = (row: unknown): boolean => JSON.stringify(row).includes(run);
  if (Array.isArray(value)) return value.filter(isOwn);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, Array.isArray(one) ? one.filter(isOwn) : one]),
  );
}

function plainDeep(side: Side, value: unknown, key: string): unknown {
  if (typeof value === 'string') return plain(side, value, key);
  if (typeof value === 'number') return isNumberOfRow(key) && value > 0 ? '<id>' : value;
  if (Array.isArray(value)) {
    const items = value.map((one) => plainDeep(side, one, key));
    return unordered.has(key) ? sorted(items) : items;
  }
  if (!isRecord(value)) return value;
  // The size of a repository is its disk usage, which depends on how each server packs it.
  const isRepository = 'full_name' in value && 'size' in value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    members.map(([name, one]) => [
      name,
      isRepository && name === 'size' ? '<size>' : plainDeep(side, one, name),
    ]),
  );
}

function isNumberOfRow(key: string): boolean {
  return /(^|_)ids?$/.test(key);
}

/** Lists that a real server returns in random order, or ordered only by second. */
const unordered = new Set(['units', 'events', 'requested_reviewers']);

/** Addresses that contain the number of a row. */
const rows =
  /\b(labels|milestones|hooks|releases|comments|issuecomment|threads|runs|teams|assets|keys|reviews|issues\/comments|applications|pullrequestreview|repositories|avatars|tasks|jobs)([/-])\d+\b/g;

function plain(side: Side, text: string, key: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text)) return /^(0001|1970)/.test(text) ? text : '<time>';
  if (/^[0-9a-f]{40}$/.test(text)) return '<sha1>';
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return '<uuid>';
  const { host } = new URL(side.url);
  return (
    text
      .replace(/; charset=/, ';charset=')
      // For a push without commits, the feeds of one server contain both forms.
      .replace('"Commits":null', '"Commits":[]')
      .replaceAll(side.url, '<url>')
      .replaceAll(host, '<host>')
      // The SSH account and the domain of hidden addresses are settings of a server.
      .replace(/^\w+@[\w.]+:(?=[\w.-]+\/[\w.-]+\.git$)/, '<ssh>:')
      .replace(/@noreply\.[\w.]+/g, '@noreply.<domain>')
      .replace(rows, '$1$2<id>')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
      .replace(/\b[0-9a-f]{40}\b/g, '<sha1>')
      .replace(/\b[0-9a-f]{64}\b|\bgto_\w{52}\b/g, '<random>')
      .replace(/\b[0-9a-f]{32}\b/g, key.includes('avatar') ? '<hash>' : '$&')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/g, '<time>')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = value === undefined ? '(absent)' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
