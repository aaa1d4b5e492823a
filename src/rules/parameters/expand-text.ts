import { nearest } from '../expressions/parse/nearest.ts';
import { endOfInserted, opening } from '../expressions/template.ts';
import type { ParameterValue, ParameterValues } from './declaration.ts';
import { Expansion } from './expansion.ts';

/** What texts are expanded with. */
export type ExpandingWith = {
  readonly values: ParameterValues;
  /** Whether the file declares parameters: only then does `params` mean them in expressions. */
  readonly isDeclared: boolean;
  /** Called with the number of characters of each value before it is inserted; false: there is no room for it. */
  readonly charge: (characters: number) => boolean;
};

/** `${{ params.NAME }}`, exactly. */
const reference = /\$\{\{\s*params\s*\.\s*([A-Za-z_]\w*)\s*\}\}/y;
const word = /[A-Za-z_]\w*/y;
const member = /params\s*\.\s*([A-Za-z_]\w*)/y;

/** Returns whether a text refers to a parameter by `${{ params.NAME }}`. */
export function hasReference(text: string): boolean {
  return new RegExp(reference.source).test(text);
}

/** Returns the name of the parameter that a text consists of, or undefined. */
export function wholeReference(text: string): string | undefined {
  const found = matchAt(reference, text, 0);
  return found?.[0].length === text.length ? found[1] : undefined;
}

/**
 * Expands a text that is no condition: `${{ params.NAME }}` becomes the value, and in other expressions of the text
 * `params.NAME` becomes a literal. `$${{` stays as it is.
 */
export function expandText(source: string, given: ExpandingWith): Expansion {
  const out = new Expansion();
  let at = 0;
  while (at < source.length) {
    const next = source.indexOf(opening, at);
    if (next < 0) break;
    if (source[next - 1] === '$' && next > at) {
      out.copy(source, at, next + opening.length);
      at = next + opening.length;
      continue;
    }
    out.copy(source, at, next);
    const found = matchAt(reference, source, next);
    const end = found
      ? next + found[0].length
      : (endOfInserted(source, next + opening.length) ?? source.length);
    if (found) {
      const value = valueNamed(found[1] ?? '', { start: next, end }, out, given);
      if (value !== undefined) insertText(value, { start: next, end }, out, given);
    } else expandInto(source, { start: next, end }, out, given);
    at = end;
  }
  out.copy(source, at, source.length);
  refuseSeams(out);
  return out;
}

/**
 * Expands a condition: `params.NAME` and `${{ params.NAME }}` become literals of CEL. Within a quoted text the reference
 * becomes an escaped part of that text. No value can end a literal, so none can become an expression.
 */
export function expandCondition(source: string, given: ExpandingWith): Expansion {
  const out = new Expansion();
  expandInto(source, { start: 0, end: source.length }, out, given);
  return out;
}

/** The parts of an expression as the parser sees them: comments, texts in quotes, words, and everything else. */
function expandInto(
  source: string,
  { start, end }: { readonly start: number; readonly end: number },
  out: Expansion,
  given: ExpandingWith,
): void {
  let at = start;
  while (at < end) {
    const quoted = quotedAt(source, at, end);
    if (quoted !== undefined) {
      expandQuoted(source, { start: at, ...quoted }, out, given);
      at = quoted.end;
      continue;
    }
    if (source.startsWith('//', at)) {
      const newline = source.indexOf('\n', at);
      const to = newline < 0 ? end : Math.min(newline, end);
      out.copy(source, at, to);
      at = to;
      continue;
    }
    at = expandCode(source, at, out, given);
  }
}

/** Expands one word, reference or sign outside of quotes. Returns where it ends. */
function expandCode(source: string, at: number, out: Expansion, given: ExpandingWith): number {
  const found = matchAt(reference, source, at) ?? (given.isDeclared ? memberAt(source, at) : undefined);
  if (found) {
    const end = at + found[0].length;
    const value = valueNamed(found[1] ?? '', { start: at, end }, out, given);
    if (value !== undefined) insertLiteral(literalOfValue(value), { start: at, end }, out, given);
    return end;
  }
  const end = at + (matchAt(word, source, at)?.[0].length ?? 1);
  out.copy(source, at, end);
  return end;
}

/** `params.NAME` as a name of its own, and not as a member of something else. */
function memberAt(source: string, at: number): RegExpExecArray | undefined {
  return /\.\s*$/.test(source.slice(Math.max(0, at - 20), at)) ? undefined : matchAt(member, source, at);
}

type Quoted = { readonly end: number; readonly isPlain: boolean };

/** Returns the end of the text in quotes that begins here, as the parser reads it; undefined where none begins. */
function quotedAt(source: string, at: number, limit: number): Quoted | undefined {
  const hasPrefix = /[bBrR]/.test(source[at] ?? '') && !/\w/.test(source[at - 1] ?? '');
  const from = hasPrefix ? at + 1 : at;
  const quote = source[from];
  if (quote !== '"' && quote !== "'") return undefined;
  const isTriple = source[from + 1] === quote && source[from + 2] === quote;
  const closing = isTriple ? quote.repeat(3) : quote;
  let place = from + closing.length;
  while (place < limit && !source.startsWith(closing, place)) place += source[place] === '\\' ? 2 : 1;
  return { end: Math.min(limit, place + closing.length), isPlain: !hasPrefix && !isTriple };
}

function expandQuoted(
  source: string,
  { start, end, isPlain }: Quoted & { readonly start: number },
  out: Expansion,
  given: ExpandingWith,
): void {
  let at = start;
  for (
    let next = source.indexOf(opening, at);
    next >= 0 && next < end;
    next = source.indexOf(opening, next + 1)
  ) {
    const found = matchAt(reference, source, next);
    if (!found || next + found[0].length > end) continue;
    const span = { start: next, end: next + found[0].length };
    out.copy(source, at, next);
    at = span.end;
    // The first sign of the value would become part of an escape, and the next one might end the text.
    const backslashes = /\\*$/.exec(source.slice(start, next))?.[0].length ?? 0;
    if (!isPlain || backslashes % 2 === 1) {
      const message =
        'a parameter cannot be inserted here: only into a text in "…" or \'…\' without prefix, and not after a backslash';
      out.report(message, span.start, span.end);
      continue;
    }
    const value = valueNamed(found[1] ?? '', span, out, given);
    if (value === undefined) continue;
    if (typeof value === 'object') {
      const message = `a list cannot be inserted into a text: write params.${found[1]} outside of the quotes`;
      out.report(message, span.start, span.end);
    } else insertLiteral(escaped(String(value)), span, out, given);
  }
  out.copy(source, at, end);
}

/** Returns what to do about a parameter that the file does not declare. */
export function unknownParameter(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `there is no parameter "${name}", did you mean "${meant}"?`;
  const list = known.length === 0 ? '' : `; there are ${known.join(', ')}`;
  return `there is no parameter "${name}"${list}: declare it at the top of the file, as in params: { ${name}: { type: string, default: … } }`;
}

type ReferenceSpan = { readonly start: number; readonly end: number };

function valueNamed(
  name: string,
  { start, end }: ReferenceSpan,
  out: Expansion,
  { values }: ExpandingWith,
): ParameterValue | undefined {
  const value = values.get(name);
  if (value === undefined) out.report(unknownParameter(name, [...values.keys()]), start, end);
  return value;
}

function insertText(value: ParameterValue, span: ReferenceSpan, out: Expansion, given: ExpandingWith): void {
  if (typeof value === 'object') {
    const message = 'a list cannot be part of a text: a value of its own, it keeps its type';
    out.report(message, span.start, span.end);
  } else insertLiteral(String(value), span, out, given);
}

function insertLiteral(text: string, { start }: ReferenceSpan, out: Expansion, given: ExpandingWith): void {
  if (given.charge(text.length)) out.insert(text, start);
}

/** Returns the literal of CEL for a value. */
function literalOfValue(value: ParameterValue): string {
  if (typeof value === 'string') return `"${escaped(value)}"`;
  if (typeof value === 'object') return `[${value.map(literalOfValue).join(', ')}]`;
  // A sign before the number must not join with what stands before it.
  return typeof value === 'number' && value < 0 ? `(${value})` : String(value);
}

/** Returns a text as it stands within quotes of either kind. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
}

/** A value such as `$` beside `{{` of the file would make an expression that no file contains. */
function refuseSeams(out: Expansion): void {
  for (const { index } of out.text.matchAll(/\$?\$\{\{/g)) {
    const isDouble = out.text.startsWith(`$${opening}`, index);
    const from = out.seamIn(index, index + opening.length + (isDouble ? 1 : 0));
    if (from === undefined) continue;
    const message = `the value and the text beside it together make "${opening}": write them apart`;
    out.report(message, from, from + 1);
  }
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}
