import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { parseTree, type YamlPath } from '../rules/files/yaml-source.ts';

/** Where the cursor is in a YAML text that is being written. */
export type Place = {
  /** Path of the value, or of the map to which the key belongs. */
  readonly path: YamlPath;
  readonly role: 'key' | 'value';
  /** The key or value under the cursor, without its quotes and escapes. */
  readonly text: string;
  /** Offset of the cursor in `text`. */
  readonly at: number;
  /** Whether the text is unquoted and alone on its line, so that it may become the first key of a map. */
  readonly isOpen: boolean;
  /** Whether a value already follows the key. */
  readonly isFollowed: boolean;
  /** The value of the whole file. */
  readonly file: unknown;
};

/**
 * A mark that is inserted at the cursor: the node that contains it is the one under the cursor, also where nothing is
 * written yet.
 */
const mark = '\ue0cf';

/** Returns the place of an offset in a text; undefined beyond the limits of rule files, and outside of values. */
export function placeAt(text: string, offset: number): Place | undefined {
  if (text.includes(mark)) return undefined;
  const [before, after] = [text.slice(0, offset), text.slice(offset)];
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const rest = /^[^\r\n]*/.exec(after)?.[0] ?? '';
  if (isComment(line)) return undefined;
  const root = parseTree(`${before}${mark}${completion(line, rest, after.slice(rest.length))}${after}`);
  if (root === undefined || root === null) return undefined;
  const file = contentOf(root);
  const found = find(root, []);
  if (found === undefined) return undefined;
  const at = found.text.indexOf(mark);
  return {
    ...found,
    text: plain(found.text),
    at,
    isOpen: isBareWord(line) && rest.trim() === '',
    isFollowed: /^[\w.-]*["']?\s*:(\s|$)/.test(rest),
    file,
  };
}

/**
 * Returns what must follow the mark so that the rest of the file keeps its meaning: the end of a quote that is still
 * open, or the colon of a key that other keys follow.
 */
function completion(line: string, rest: string, below: string): string {
  const sign = openQuote(line);
  if (sign !== undefined) return rest.includes(sign) ? '' : sign;
  if (!isBareWord(line) || rest.trim() !== '') return '';
  const column = line.replace(/[\w.-]*$/, '').length;
  const next = below.split('\n').find((one) => one.trim() !== '' && !isComment(one)) ?? '';
  const isSibling = next.length - next.trimStart().length === column && /^\s*["']?[^\s"'-][^:]*:/.test(next);
  return isSibling && line.trim() !== '' ? ':' : '';
}

/** Returns whether a line up to the cursor has only the beginning of an unquoted key or value, or of an item. */
function isBareWord(line: string): boolean {
  return /^\s*(?:- +)*[\w.-]*$/.test(line);
}

/** Returns the quote at the beginning of a value that the line does not close; undefined if there is none. */
function openQuote(line: string): string | undefined {
  let open: string | undefined;
  let isStart = true;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at] ?? '';
    if (open === '"' && sign === '\\') at += 1;
    else if (open !== undefined) open = sign === open ? undefined : open;
    else if ((sign === '"' || sign === "'") && isStart) open = sign;
    else if (sign !== ' ') isStart = '[{,'.includes(sign) || (':-'.includes(sign) && line[at + 1] === ' ');
  }
  return open;
}

function isComment(line: string): boolean {
  return /^\s*#/.test(line);
}

type Found = Pick<Place, 'path' | 'role' | 'text'>;

function find(node: Node, path: YamlPath): Found | undefined {
  if (isScalar(node)) {
    const isHere = typeof node.value === 'string' && node.value.includes(mark);
    return isHere ? { path, role: 'value', text: String(node.value) } : undefined;
  }
  if (isSeq(node)) {
    for (const [place, item] of node.items.entries()) {
      const found = find(item as Node, [...path, place]);
      if (found) return found;
    }
  }
  if (!isMap(node)) return undefined;
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (name.includes(mark)) return { path, role: 'key', text: name };
    const found = value ? find(value as Node, [...path, name]) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** Returns the value of a node without the mark: the key under the cursor counts only if it is written. */
function contentOf(node: unknown): unknown {
  if (isScalar(node)) return typeof node.value === 'string' ? plain(node.value) : node.value;
  if (isSeq(node)) return node.items.map(contentOf);
  if (!isMap(node)) return null;
  const value: Record<string, unknown> = {};
  for (const pair of node.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '';
    if (name !== mark && name !== '__proto__') value[plain(name)] = contentOf(pair.value);
  }
  return value;
}

function plain(text: string): string {
  return text.replace(mark, '');
}
