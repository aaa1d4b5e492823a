import { ForgeProblem } from '../platform/errors.ts';

/**
 * The three forms of a page's name. A *title* is what readers see. A *web name* (`sub_url`) is the title with spaces as
 * dashes and everything else percent-encoded; a title that contains a dash or ends in `.md` keeps its spaces and gets a
 * trailing `.-` as a mark. A *file name* is the web name with its spaces unencoded and `.md` appended.
 */

const reserved: ReadonlySet<string> = new Set(['_pages', '_new', '_edit', 'raw']);
const mark = '.-';

export function webNameOf(title: string): string {
  const name = clean(toSegment(title.trim(), false));
  return name === '' || name === '.' ? 'unnamed' : name;
}

/** Returns the web name of a path segment, still percent-encoded. */
export function webNameIn(segment: string): string {
  return clean(segment).replaceAll('/', '%2F');
}

/** Returns the title of a web name. */
export function wikiTitle(webName: string): string {
  const last = webName.split('/').at(-1) ?? '';
  const bare = last.endsWith('.md') ? decode(last.slice(0, -3), false) : last;
  return fromSegment(bare);
}

/** Returns the name of a page's file. A web name that ends in `.md` is already a file name. */
export function fileNameOf(webName: string): string {
  if (webName.endsWith('.md')) return clean(decode(webName, false));
  const segments = webName
    .split('/')
    .map((segment) => toSegment(fromSegment(segment), segment.endsWith(mark)));
  return `${segments.join('/').replaceAll('%20', ' ').replaceAll('+', ' ')}.md`;
}

/**
 * Returns the web name of a file; undefined if the file is not a page because of another extension or a stray percent
 * sign.
 */
export function webNameOfFile(file: string): string | undefined {
  const bare = file.slice(0, -'.md'.length);
  if (!file.endsWith('.md') || tryDecode(bare) === undefined) return undefined;
  return toSegment(fromSegment(bare), bare.endsWith(mark));
}

/** Ends the request with 400 if a page cannot have this name because it is reserved for the wiki's own URLs. */
export function assertUsable(webName: string): void {
  for (const segment of webName.split('/')) {
    const title = fromSegment(segment);
    if (reserved.has(title)) throw new ForgeProblem(400, `wiki title is reserved: ${title}`);
  }
}

function fromSegment(segment: string): string {
  const bare = segment.endsWith(mark) ? segment.slice(0, -mark.length) : segment.replaceAll('-', ' ');
  return decode(bare, true);
}

function toSegment(title: string, wasMarked: boolean): string {
  const isMarked = wasMarked || title.includes('-') || title.endsWith('.md');
  return queryEscape(isMarked ? title + mark : title.replaceAll(' ', '-'));
}

/** Percent-encodes everything except letters, digits, `-`, `_`, `.` and `~`; a space becomes `+`, as in Gitea. */
function queryEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** Returns the decoded text. Text that cannot be decoded is returned unchanged, because it is only a name. */
function decode(text: string, plusIsSpace: boolean): string {
  return tryDecode(plusIsSpace ? text.replaceAll('+', ' ') : text) ?? text;
}

function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The text is not percent-encoded.
    return undefined;
  }
}

/** Resolves `.`, `..` and repeated slashes without ever leaving the root. */
function clean(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}
