import { posix } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type MarkdownIt from 'markdown-it';
import type sanitizeHtml from 'sanitize-html';
import { messageOf } from '../../platform/errors.ts';

/** Location of a text. The relative links in the text are resolved against it. */
type TextPlace = {
  /** URL of the repository. */
  readonly repository: string;
  /** URL parts for files and images, such as `src/branch/main` and `media/branch/main`; empty for a comment. */
  readonly files: string;
  readonly images: string;
  /** Folder of the text, without leading and trailing slashes. */
  readonly folder: string;
};

/**
 * Returns the location for a context (`OWNER/REPO`, or the path of one of its files), which is interpreted according to
 * the mode.
 */
export function placeOfText(
  rootUrl: string,
  mode: string,
  context: string,
  filePath: string,
): TextPlace | undefined {
  const [owner, name, ...rest] = context.replace(/^\/+|\/+$/g, '').split('/');
  if (!owner || !name || ![owner, name].every((part) => /^[\w.-]+$/.test(part))) return undefined;
  const repository = `${rootUrl}/${owner}/${name}`;
  if (mode === 'comment') return { repository, files: '', images: '', folder: '' };
  if (mode === 'wiki') return { repository, files: 'wiki', images: 'wiki/raw', folder: '' };
  const isFile = rest[0] === 'src' && /^(branch|commit|tag)$/.test(rest[1] ?? '');
  const folder = filePath.includes('/') ? posix.dirname(filePath).replace(/^[./]+/, '') : '';
  const at = isFile ? rest.slice(1).join('/') : '';
  const ref = folder !== '' && at.endsWith(`/${folder}`) ? at.slice(0, -folder.length - 1) : at;
  const suffix = ref === '' ? '' : `/${ref}`;
  return { repository, files: `src${suffix}`, images: `media${suffix}`, folder };
}

/** Returns the URL of a link or image; a URL that has a scheme or a host is unchanged. */
function resolveLink(link: string, place: TextPlace | undefined, isImage: boolean): string {
  if (link.startsWith('#')) return `#user-content-${link.slice(1)}`;
  if (place === undefined || link === '' || /^([a-z][a-z0-9+.-]*:|\/\/|\\)/i.test(link)) return link;
  const root = isImage ? place.images : place.files;
  const folder = link.startsWith('/') ? '' : place.folder;
  // `..` never leads out of the repository.
  const path = posix.join('/', folder, link);
  return `${place.repository}${root === '' ? '' : `/${root}`}${path}`;
}

/** Options of the Markdown renderer. */
export type MarkdownOptions = {
  /** Whether newlines become line breaks, as in comments. */
  readonly breaks: boolean;
  /** Whether URLs, mentions and issue numbers become links and headings get an id. */
  readonly references: boolean;
  readonly place: TextPlace | undefined;
  /** URLs of the accounts that can be mentioned, by name. */
  readonly addresses: ReadonlyMap<string, string>;
};

type Libraries = { readonly Parser: typeof MarkdownIt; readonly sanitize: typeof sanitizeHtml };
type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

/** Loads the libraries on first use: most instances never render a text. */
async function loadLibraries(): Promise<Libraries> {
  const [parser, sanitizer] = await Promise.all([import('markdown-it'), import('sanitize-html')]);
  return { Parser: parser.default, sanitize: sanitizer.default };
}

const aligned = ['align'];
const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const blocks =
  'p div blockquote pre ul ol li dl dt dd table thead tbody tfoot tr th td hr details summary'.split(' ');
const inline =
  'a b i strong em s del ins u sub sup small big kbd samp var code tt q cite abbr mark span br wbr img input picture source'.split(
    ' ',
  );

/** Allowed elements and attributes, both from Markdown and from HTML in the text; all others are removed. */
const allowed = {
  allowedTags: [...headings, ...blocks, ...inline],
  allowedAttributes: {
    ...Object.fromEntries(headings.map((name) => [name, ['id', 'align']])),
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height', 'align', 'loading'],
    input: ['type', 'checked', 'disabled'],
    ol: ['start', 'dir'],
    ul: ['dir'],
    p: ['dir', 'align'],
    div: aligned,
    th: [...aligned, 'colspan', 'rowspan'],
    td: [...aligned, 'colspan', 'rowspan'],
    details: ['open'],
  },
  allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  // Elements that a browser would run or display differently are removed with their contents.
  nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'iframe', 'object', 'svg', 'math'],
} satisfies Omit<sanitizeHtml.IOptions, 'allowedAttributes'> & { allowedAttributes: object };

/** Renders Markdown as HTML without scripts, styles, or URLs with schemes other than http, https and mailto. */
async function renderMarkdown(text: string, options: MarkdownOptions): Promise<string> {
  const { Parser, sanitize } = await loadLibraries();
  const parser = new Parser({ html: true, breaks: options.breaks, linkify: options.references });
  const environment = {};
  const tokens = parser.parse(text, environment);
  decorate(tokens, options);
  const html = parser.renderer.render(tokens, parser.options, environment);
  return sanitize(html, {
    ...allowed,
    transformTags: {
      a: (tagName, attributes) => ({ tagName, attribs: { ...attributes, rel: 'nofollow' } }),
      img: (tagName, attributes) => ({ tagName, attribs: { ...attributes, loading: 'lazy' } }),
      // The checkbox of a task is the only allowed input. Headings keep only ids with the prefix `user-content-`.
      input: (tagName, { checked }) => ({
        tagName,
        attribs: { type: 'checkbox', disabled: '', ...(checked === undefined ? {} : { checked: '' }) },
      }),
      ...Object.fromEntries(headings.map((name) => [name, keepOwnId])),
    },
  });
}

function keepOwnId(tagName: string, { id, ...attributes }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  return { tagName, attribs: id?.startsWith('user-content-') ? { ...attributes, id } : attributes };
}

/** Transforms the tokens of a text: text direction, heading ids, URLs, references, tasks. */
function decorate(tokens: readonly Token[], options: MarkdownOptions): void {
  const ids = new Map<string, number>();
  for (const [at, token] of tokens.entries()) {
    if (/^(paragraph|bullet_list|ordered_list)_open$/.test(token.type)) token.attrSet('dir', 'auto');
    const next = tokens[at + 1];
    if (token.type === 'heading_open' && options.references && next) token.attrSet('id', idOf(next, ids));
    if (/^t[hd]_open$/.test(token.type)) alignCell(token);
    if (token.type !== 'inline') continue;
    const isInItem = tokens[at - 1]?.type === 'paragraph_open' && tokens[at - 2]?.type === 'list_item_open';
    token.children = decorateInline(token.children ?? [], options, isInItem);
  }
}

/** Replaces the style of a table cell, which the sanitizer would remove, with an alignment attribute. */
function alignCell(cell: Token): void {
  const [, side] = /^text-align:(left|center|right)$/.exec(String(cell.attrGet('style'))) ?? [];
  if (side !== undefined) cell.attrs = [['align', side]];
}

function idOf(heading: Token, ids: Map<string, number>): string {
  const plain = heading.content.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  const id = plain.trim().replace(/\s+/g, '-') || 'heading';
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return `user-content-${id}${count === 0 ? '' : `-${count}`}`;
}

function decorateInline(children: readonly Token[], options: MarkdownOptions, isInItem: boolean): Token[] {
  const result: Token[] = [];
  let depth = 0;
  for (const [at, token] of children.entries()) {
    if (token.type === 'link_open') {
      depth += 1;
      token.attrSet('href', resolveLink(String(token.attrGet('href') ?? ''), options.place, false));
    }
    if (token.type === 'link_close') depth -= 1;
    if (token.type === 'image')
      token.attrSet('src', resolveLink(String(token.attrGet('src') ?? ''), options.place, true));
    if (/^s_(open|close)$/.test(token.type)) token.tag = 'del';
    if (token.type !== 'text') result.push(token);
    else {
      if (at === 0 && isInItem) result.push(...taskBox(token));
      if (!options.references || depth > 0) result.push(token);
      // Added one by one: a text may contain more references than a function call can have arguments.
      else for (const part of splitReferences(token, options)) result.push(part);
    }
  }
  return result;
}

/** Removes `[ ]` or `[x]` from the beginning of a text, and returns the checkbox for it. */
function taskBox(text: Token): Token[] {
  const [mark, state] = /^\[([ xX])\]\s+/.exec(text.content) ?? [];
  if (mark === undefined) return [];
  text.content = text.content.slice(mark.length);
  const checked = state === ' ' ? '' : ' checked=""';
  return [htmlToken(text, `<input type="checkbox" disabled=""${checked}>`)];
}

const reference = /(?<![\w/@#])(?:@([\w][\w.-]*[\w]|[\w])|#(\d{1,12}))(?!\w)/g;

/** Turns account mentions into links, and issue numbers too if the text has a repository. */
function splitReferences(token: Token, { place, addresses }: MarkdownOptions): Token[] {
  const parts: Token[] = [];
  let end = 0;
  for (const match of token.content.matchAll(reference)) {
    const [whole, name, number] = match;
    const address =
      name === undefined ? place && `${place.repository}/issues/${number}` : addresses.get(name);
    if (address === undefined) continue;
    parts.push(copyToken(token, token.content.slice(end, match.index)));
    parts.push(htmlToken(token, `<a href="${encodeURI(address)}">`), copyToken(token, whole));
    parts.push(htmlToken(token, '</a>'));
    end = match.index + whole.length;
  }
  return end === 0 ? [token] : [...parts, copyToken(token, token.content.slice(end))];
}

function copyToken(like: Token, content: string): Token {
  return Object.assign(Object.create(Object.getPrototypeOf(like)) as Token, like, { content });
}

/** Returns a token whose content the renderer outputs unescaped. */
function htmlToken(like: Token, content: string): Token {
  return Object.assign(copyToken(like, content), { type: 'html_inline' });
}

// Program of the thread that renders Markdown, started by `markup.ts`.

/** A text to render. */
export type RenderRequest = { readonly id: number; readonly text: string; readonly options: MarkdownOptions };
/** The rendered HTML, or the error. */
export type RenderAnswer = { readonly id: number; readonly html?: string; readonly error?: string };

parentPort?.on('message', async ({ id, text, options }: RenderRequest) => {
  let answer: RenderAnswer;
  try {
    answer = { id, html: await renderMarkdown(text, options) };
  } catch (error) {
    answer = { id, error: messageOf(error) };
  }
  parentPort?.postMessage(answer);
});
