import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { messageOf } from '../../platform/errors.ts';
import type { Fix, Problem, ProblemCode } from '../problem.ts';

/** Maximum size of a rule file. */
const maxFileBytes = 64 * 1024;

/** Maximum number of problems reported per file. */
export const maxProblems = 100;
/**
 * Matches deeply nested brackets, dashes or question marks, which would overflow the recursive parser and which no rule
 * file needs.
 */
const tooDeep = /(?:[[{]\s*){50}|(?:[-?] ){50}/;

const parsing = {
  prettyErrors: false,
  stringKeys: true,
  // The parser would compare every pair of keys; the reader below needs only one lookup per key.
  uniqueKeys: false,
  logLevel: 'error',
  version: '1.2',
} as const;

/**
 * Parses a text that is being written, within the limits of rule files: returns its tree in spite of mistakes; undefined
 * beyond the limits. Never throws.
 */
export function parseTree(text: string): Node | null | undefined {
  if (Buffer.byteLength(text) > maxFileBytes || tooDeep.test(text)) return undefined;
  try {
    return parseDocument(text, parsing).contents;
  } catch {
    // The parser is recursive; thousands of nesting levels overflow the stack.
    return undefined;
  }
}

/** Keys and item indexes that lead to a value. */
export type YamlPath = readonly (string | number)[];

/** A YAML text with the positions of its values, for problems that are found later. */
export type YamlSource = {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Whether the text was parsed well enough for its value to be examined. */
  readonly readable: boolean;
  /** Position of the value at a path, or of the nearest enclosing value. */
  valueAt(path: YamlPath): Span;
  /** Position of the key at the end of a path. */
  keyAt(path: YamlPath): Span;
  /** Offset in the file for an offset in a text value; accounts for quotes, escapes, line folding and indentation. */
  inside(path: YamlPath, offset: number): number;
  lineOf(offset: number): { readonly line: number; readonly column: number };
  readonly problem: MakeProblem;
};

/**
 * Parses a YAML text within the limits of rule files: one document, no aliases, anchors, tags or directives. Never
 * throws.
 */
export function readYaml(path: string, text: string): YamlSource {
  const lines = new LineCounter();
  const lineOf = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(Math.max(0, Math.min(offset, text.length)));
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problem: MakeProblem = (code, message, span, suggestion, fix) => {
    const { line, column } = lineOf(span.start);
    const source = sourceLine(text, span.start);
    const width = Math.max(1, Math.min(span.end - span.start, source.length - column + 1));
    return {
      code,
      message,
      path,
      line,
      column,
      source,
      width,
      ...(suggestion !== undefined && { suggestion }),
      ...(fix && { fix }),
    };
  };
  const unreadable = (found: Problem): YamlSource => ({
    value: undefined,
    problems: [found],
    readable: false,
    valueAt: () => start,
    keyAt: () => start,
    inside: () => 0,
    lineOf,
    problem,
  });
  const start = { start: 0, end: 0 };
  if (Buffer.byteLength(text) > maxFileBytes) {
    return unreadable(problem('file-size', 'the file is larger than 64 KiB', start));
  }
  const nested = tooDeep.exec(text);
  if (nested) {
    const span = { start: nested.index, end: nested.index + 1 };
    return unreadable(problem('yaml', 'the text is nested too deep', span));
  }
  try {
    return readWithin(text, lines, lineOf, problem);
  } catch (error) {
    // The parser is recursive; thousands of nesting levels overflow the stack.
    const reason = error instanceof RangeError ? 'the text is nested too deep' : messageOf(error);
    return unreadable(problem('yaml', reason, start));
  }
}

function readWithin(
  text: string,
  lines: LineCounter,
  lineOf: YamlSource['lineOf'],
  problem: MakeProblem,
): YamlSource {
  const document = parseDocument(text, { ...parsing, lineCounter: lines });
  const root = document.contents;
  const reader = new YamlReader(text, problem);
  const value = reader.read(root);
  const { forbidden } = reader;
  const taken = new Set(forbidden.map(({ line }) => line));
  const errors = [...document.errors, ...document.warnings]
    .slice(0, maxProblems)
    .flatMap(({ code, message, pos }) => {
      const span = { start: pos[0], end: pos[1] };
      const found = explainYaml(code, message, span, text, problem);
      if (taken.has(found.line)) return [];
      // Further problems on the same line are only consequences of the first.
      taken.add(found.line);
      return [found];
    });
  const directive = /^%/m.exec(text);
  if (directive && document.directives?.yaml.explicit) {
    errors.push(
      problem('yaml', 'directives are not allowed', { start: directive.index, end: directive.index + 1 }),
    );
  }
  const harmless = new Set<ProblemCode>(['duplicate-key', 'yaml-tag']);
  const readable = [...errors, ...forbidden].every(({ code }) => harmless.has(code));
  const find = (path: YamlPath): FoundNode => findNode(root, path, text.length);
  return {
    value: readable ? value : undefined,
    problems: [...forbidden, ...errors],
    readable,
    valueAt: (path) => find(path).value,
    keyAt: (path) => find(path).key,
    inside: (path, offset) => insideScalar(find(path).node, text, offset),
    lineOf,
    problem,
  };
}

/** Walks the tree once: reads its value, and reports constructs that rule files must not use. */
class YamlReader {
  readonly forbidden: Problem[] = [];
  readonly #text: string;
  readonly #problem: MakeProblem;

  constructor(text: string, problem: MakeProblem) {
    this.#text = text;
    this.#problem = problem;
  }

  read(node: unknown): unknown {
    if (!isNode(node)) return null;
    this.#check(node);
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => this.read(item));
    if (!isMap(node)) return null;
    const value: Record<string, unknown> = {};
    for (const { key, value: member } of node.items) {
      const name = String(this.read(key));
      if (Object.hasOwn(value, name)) this.#forbid('duplicate-key', `"${name}" stands twice here`, key);
      const inner = this.read(member);
      // Schemas would silently ignore this key.
      if (name === '__proto__') this.#forbid('unknown-key', '"__proto__" cannot be a key', key);
      else value[name] = inner;
    }
    return value;
  }

  #check(node: Node): void {
    if (isAlias(node)) this.#forbid('yaml-alias', 'aliases are not allowed: write the value out', node);
    else if (node.anchor) this.#forbid('yaml-alias', 'anchors are not allowed', node);
    else if (node.tag && this.forbidden.length < maxProblems) {
      this.forbidden.push(tagProblem(spanOf(node), this.#text, this.#problem));
    }
  }

  #forbid(code: ProblemCode, message: string, node: unknown): void {
    if (this.forbidden.length >= maxProblems || !isNode(node)) return;
    this.forbidden.push(this.#problem(code, message, spanOf(node)));
  }
}

type FoundNode = { readonly node: Node | undefined; readonly value: Span; readonly key: Span };

/** Follows a path as far as it exists. */
function findNode(root: Node | null, path: YamlPath, length: number): FoundNode {
  const whole = { start: 0, end: Math.min(1, length) };
  let found: FoundNode = root
    ? { node: root, value: spanOf(root), key: whole }
    : { node: undefined, value: whole, key: whole };
  for (const step of path) {
    const inner = stepInto(found.node, step);
    if (inner === undefined) return { ...found, node: undefined };
    found = inner;
  }
  return found;
}

function stepInto(node: Node | undefined, step: string | number): FoundNode | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return isNode(item) ? { node: item, value: spanOf(item), key: spanOf(item) } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = pairsOf(node).get(String(step));
  if (pair === undefined || !isNode(pair.key)) return undefined;
  const key = spanOf(pair.key);
  return isNode(pair.value)
    ? { node: pair.value, value: spanOf(pair.value), key }
    : { node: undefined, value: key, key };
}

const indexed = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/**
 * Returns the pairs of a map by key. If a key is duplicated, which is reported as a problem, the last value is used.
 */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  const known = indexed.get(map);
  if (known) return known;
  const pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]));
  indexed.set(map, pairs);
  return pairs;
}

/**
 * Returns the position in the file for an offset in a text value. Walks the value and its source in parallel, because
 * the source also contains quotes, escapes and line folding.
 */
function insideScalar(node: Node | undefined, text: string, offset: number): number {
  if (node === undefined) return 0;
  const { start, end } = spanOf(node);
  if (!isScalar(node) || typeof node.value !== 'string') return start;
  const { value, type } = node;
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
  let at = isBlock ? endOfLine(text, start) + 1 : start + (type === 'PLAIN' ? 0 : 1);
  for (let place = 0; place < Math.min(offset, value.length) && at < end; place += 1) {
    at = skipFolding(text, at, end, value[place] ?? '');
    at += type === 'QUOTE_DOUBLE' && text[at] === '\\' ? lengthOfEscape(text, at) : 1;
    if (type === 'QUOTE_SINGLE' && text[at - 1] === "'" && text[at] === "'") at += 1;
  }
  if (offset < value.length) at = skipFolding(text, at, end, value[offset] ?? '');
  return Math.min(at, end);
}

/**
 * Skips line folding: a line break with its indentation stands for one space, or for nothing if the next character of
 * the value is not a space.
 */
function skipFolding(text: string, from: number, end: number, wanted: string): number {
  let at = from;
  if (text[at] === wanted && wanted !== ' ' && wanted !== '\n') return at;
  if (wanted === ' ' || wanted === '\n') {
    if (text[at] === wanted) return at;
    if (text[at] !== '\n' && text[at] !== '\r') return at;
    while (at + 1 < end && /\s/.test(text[at + 1] ?? '')) at += 1;
    return at;
  }
  while (at < end && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

function lengthOfEscape(text: string, at: number): number {
  const lengths: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };
  return lengths[text[at + 1] ?? ''] ?? 2;
}

/** Returns the problem for a tag, which is usually an unquoted value that starts with `!`. */
function tagProblem(span: Span, text: string, problem: MakeProblem): Problem {
  const before = text.lastIndexOf('!', span.start);
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1;
  const first = text.slice(lineStart, span.end).search(/(?<=[:\s[{,-]|^)!/);
  const start = first >= 0 ? lineStart + first : Math.max(0, before);
  const line = text.slice(start, endOfLine(text, start));
  if (line.startsWith('!!')) return problem('yaml-tag', 'tags are not allowed', { start, end: span.end });
  const value = line.trim();
  const message = `YAML reads an unquoted "!" as a tag: put the value in quotes, "${value.replaceAll('"', "'")}"`;
  const whole = { start, end: start + line.trimEnd().length };
  const sign = value.includes('"') ? "'" : '"';
  // A comment, the end of a bracket, or both kinds of quotes would need another edit.
  const isPlain = !value.includes(sign) && !/ #|[\\\]}]/.test(value);
  const fix = isPlain ? { ...whole, text: `${sign}${value}${sign}` } : undefined;
  return problem('yaml-tag', message, whole, undefined, fix);
}

/** Explains parser errors that result from common mistakes, in terms that the author knows. */
function explainYaml(code: string, message: string, span: Span, text: string, problem: MakeProblem): Problem {
  const line = sourceLine(text, span.start).slice(0, 1_000);
  const lower = message.charAt(0).toLowerCase() + message.slice(1);
  const value = /^\s*(?:- )?["']?[\w.-]+["']?:\s+(.*)$/.exec(line)?.[1] ?? '';
  if (code === 'TAG_RESOLVE_FAILED') return tagProblem(span, text, problem);
  if (code === 'BAD_ALIAS') return problem('yaml-alias', 'aliases are not allowed', span);
  if (code === 'NON_STRING_KEY' && /\{\{/.test(line)) {
    return problem('yaml', 'a value that starts with "{" must be in quotes', span);
  }
  if (/[[{,]\s*[\w"'-]+\s*:\s*\$\{\{|[[,]\s*\$\{\{/.test(line)) {
    const start = text.lastIndexOf(line, span.start) + line.indexOf('${{');
    return problem('yaml', 'inside { } or [ ], a value with ${{ must be in quotes', {
      start,
      end: start + 3,
    });
  }
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'BLOCK_IN_FLOW') {
    const at = text.indexOf(': ', span.start);
    const place = at >= 0 && at < endOfLine(text, span.start) ? { start: at, end: at + 1 } : span;
    return problem('yaml', `an unquoted text must not contain ": ": ${quotesFor(value)}`, place);
  }
  if (/^["']/.test(value) && /at node end/.test(message)) {
    return problem(
      'yaml',
      'a value that starts with a quote must end with it: put the whole value in different quotes',
      span,
    );
  }
  const unspaced = /^\s*(?:- )?([\w-]+):[\w"'[{$]/.exec(line);
  if (/implicit keys|implicit map/i.test(message) && unspaced) {
    return problem('yaml', `a space is missing after "${unspaced[1]}:"`, span);
  }
  if (code === 'BAD_INDENT') {
    const advice =
      'lines of one map or list must begin in the same column, and "with" in the column of "uses"';
    return problem('yaml', `this line is indented differently from those before it: ${advice}`, span);
  }
  if (code === 'TAB_AS_INDENT')
    return problem('yaml', 'tabs are not allowed as indentation: use spaces', span);
  if (code === 'MULTIPLE_DOCS')
    return problem('yaml', 'a file must have only one document: remove the second "---"', span);
  return problem('yaml', lower, span);
}

/** Returns how to quote a value that may itself contain quotes. */
function quotesFor(value: string): string {
  if (!value.includes('"')) return 'put the whole value in quotes';
  return value.includes("'")
    ? 'write >- after the colon, and the value indented on the next line'
    : 'put the whole value in single quotes';
}

/** A range of the text, as start and end offsets. */
type Span = { readonly start: number; readonly end: number };

/** Creates a problem at a range of the text. */
type MakeProblem = (
  code: ProblemCode,
  message: string,
  span: Span,
  suggestion?: string,
  fix?: Fix,
) => Problem;

/** Returns the line of the text at an offset, without its line end. */
function sourceLine(text: string, offset: number): string {
  const at = Math.max(0, Math.min(offset, text.length));
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(start, endOfLine(text, at)).replace(/\r$/, '');
}

/** Returns the offset of the line's end. */
function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/** Returns the range of a node, without trailing content. */
function spanOf(node: Node): Span {
  const [start = 0, end = start] = node.range ?? [];
  return { start, end };
}

/** A text, with the offset of its first invalid UTF-8 byte; undefined if all bytes are valid. */
export type DecodedText = { readonly text: string; readonly invalidAt: number | undefined };

/** Decodes UTF-8. Invalid bytes, for example from a Latin-1 file, become U+FFFD. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let [from, byte] = [0, 0];
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', from)) {
    byte += Buffer.byteLength(text.slice(from, at));
    // A valid file may itself contain U+FFFD.
    const isWritten = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!isWritten) return { text, invalidAt: at };
    byte += 3;
    from = at + 1;
  }
  return { text, invalidAt: undefined };
}

/** Returns the name of another encoding if the bytes appear to have it, otherwise undefined. */
export function foreignEncodingOf(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'UTF-16 (little endian)';
  if (first === 0xfe && second === 0xff) return 'UTF-16 (big endian)';
  // In UTF-16, every second byte of ASCII text is zero. Rule files in UTF-8 contain no zero bytes.
  const head = bytes.subarray(0, 64);
  if (first !== 0 && second === 0 && !head.every((byte) => byte === 0)) return 'UTF-16 (little endian)';
  return first === 0 && second !== 0 ? 'UTF-16 (big endian)' : undefined;
}
