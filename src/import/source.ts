import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import { SourceError, type SourceFile } from './conversion.ts';

/** Maximum size of a source, in characters. */
const maxSource = 1_048_576;

type Path = readonly (string | number)[];

/** A foreign configuration, read with its positions and comments. Values are plain data: null, text, lists, maps. */
export type Source = {
  readonly value: unknown;
  /** Line of a key or item, starting at 1; that of the nearest parent if there is none. */
  readonly lineOf: (path: Path) => number;
  /** A value that is no list or map, as it is written, without quotes: `008672`, of which `value` is a number. */
  readonly writtenAt: (path: Path) => string | undefined;
  /** The comments before a key or item, without `#`; undefined without comments. */
  readonly commentOf: (path: Path) => string | undefined;
};

/** Reads YAML 1.1 or 1.2 with anchors and merge keys, as the bots do. Throws `SourceError` if it is invalid or too large. */
export function readYamlSource({ text }: SourceFile): Source {
  if (text.length > maxSource) throw new SourceError(`the file is larger than ${maxSource} characters`);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: true,
    uniqueKeys: true,
    customTags: [],
    logLevel: 'silent',
  });
  const [error] = document.errors;
  if (error) throw new SourceError(error.message.split('\n')[0] ?? 'invalid YAML', error.linePos?.[0].line);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 1_000 });
  } catch (thrown) {
    throw new SourceError(thrown instanceof Error ? thrown.message : 'too many aliases');
  }
  const find = (path: Path): { readonly node: Node | undefined; readonly pair: Pair | undefined } => {
    let node: unknown = document.contents;
    let pair: Pair | undefined;
    for (const name of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const found: Pair | undefined = node.items.find(
          ({ key }) => (isScalar(key) ? String(key.value) : key) === String(name),
        );
        if (found === undefined) break;
        pair = found;
        node = found.value;
      } else if (isSeq(node) && typeof name === 'number') {
        const item: unknown = node.items[name];
        if (item === undefined) break;
        pair = isPair(item) ? item : undefined;
        node = item;
      } else break;
    }
    return { node: isNodeLike(node) ? node : undefined, pair };
  };
  return {
    value,
    lineOf(path) {
      const { node, pair } = find(path);
      const at = (pair && isNodeLike(pair.key) ? pair.key.range?.[0] : undefined) ?? node?.range?.[0] ?? 0;
      return lines.linePos(at).line;
    },
    writtenAt(path) {
      const { node } = find(path);
      const scalar = isAlias(node) ? node.resolve(document) : node;
      return isScalar(scalar) ? scalar.source : undefined;
    },
    commentOf(path) {
      const { node, pair } = find(path);
      const key = pair && isNodeLike(pair.key) ? pair.key.commentBefore : undefined;
      return key ?? node?.commentBefore ?? undefined;
    },
  };
}

function isNodeLike(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the texts of a text or a list of texts; numbers and booleans are written as text. Undefined for other values. */
export function texts(value: unknown): readonly string[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  const isText = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
  return list.every(isText) ? list.map(String) : undefined;
}
