import { isScalar, type Node } from 'yaml';
import { endOfLine, spanOf } from './yaml-place.ts';

/**
 * Returns the place in the file of an offset in a text value. Walks value and source side by side: what the source has beyond the value is quotes,
 * escapes and line folding.
 */
export function insideScalar(node: Node | undefined, text: string, offset: number): number {
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

/** A line break with its indentation stands for one space, or for nothing where the value goes on with another sign. */
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
