import { readMember } from '../../contract/events/payload-members.ts';
import type { FactRequest } from '../../facts/fact.ts';
import { breakReferences, type TextPart } from '../../patterns/issue-references.ts';
import { LimitExceeded, type Meter } from '../../patterns/meter.ts';
import { type ExpressionProblem, withHint } from '../problem.ts';
import { costs, limits } from './budget.ts';
import { chainOf, textOf } from './parse.ts';
import { createPart, type Part, type Read, runPart, Values } from './part.ts';
import { remedyMemberOf } from './remedies.ts';
import { type ExpressionContext, resolveExpression } from './resolve.ts';
import { type Knowledge, mayBe, type Type } from './types.ts';
import { Double, Duration, describeValue } from './values.ts';

/** A compiled text with `${{ expression }}` parts, which can be filled repeatedly. */
export type Template = {
  readonly facts: readonly FactRequest[];
  readonly reads: readonly Read[];
  /** Returns the filled text, or the value itself if the text is a single expression. Never throws. */
  readonly fill: (knowledge: Knowledge, meter: Meter) => Filled;
};

export type Filled =
  | { readonly value: string | number | boolean }
  | { readonly error: string; readonly cause?: Error };

/** Purpose of a text, which determines how inserted values are sanitized. */
type TextPurpose = {
  /** The forge parses references to issues in the text, so references in inserted values are made ineffective. */
  readonly readByForge?: boolean;
  /**
   * Multi-line text: inserted values keep their line breaks, up to 8 KiB. If the forge parses the text, inserted lines
   * cannot start with a command.
   */
  readonly lines?: boolean;
  /** The text becomes part of git history, where `@` has no effect and is left unchanged. */
  readonly commit?: boolean;
};

/** An expression whose value is taken from a command: a list of texts, or one text. */
export type ListTemplate = {
  readonly facts: readonly FactRequest[];
  readonly reads: readonly Read[];
  /** Returns the texts in the list. Never throws. */
  readonly read: (knowledge: Knowledge, meter: Meter) => FilledList;
};

type FilledList =
  /** `found`: whether the comment has the command. */
  | { readonly value: { readonly command: readonly string[]; readonly found: boolean } }
  | { readonly error: string; readonly cause?: Error };

/** Start of an expression in a text. */
export const opening = '${{';

/** Returns whether a text contains an expression or an escaped `${{`. */
export function hasTemplate(text: string): boolean {
  return text.includes(opening);
}

/**
 * Compiles a text in which `${{ expression }}` inserts a value. If that fails, returns all problems, with offsets in
 * the text. `$${{` is a literal `${{`.
 *
 * Inserted values are data and are never parsed as an expression. Control characters and bidirectional marks are
 * removed, line breaks become spaces, `@` no longer mentions an account, and values are truncated to 1 KiB with `…`.
 * The purpose of the text changes these rules.
 */
export function compileTemplate(
  source: string,
  context: ExpressionContext,
  purpose: TextPurpose = {},
): { readonly template: Template } | { readonly problems: readonly ExpressionProblem[] } {
  const split = splitTemplate(source);
  if ('problems' in split) return split;
  const problems: ExpressionProblem[] = [];
  const facts: FactRequest[] = [];
  const pieces = split.pieces.map((piece): string | CompiledPiece => {
    if (typeof piece === 'string') return piece;
    const compiled = compilePiece(piece, context);
    if ('problems' in compiled) {
      problems.push(...compiled.problems);
      return '';
    }
    facts.push(...compiled.facts);
    return compiled;
  });
  if (problems.length > 0) return { problems };
  const fill = (knowledge: Knowledge, meter: Meter): Filled =>
    fillPieces(pieces, new Values(knowledge, context.environment, meter), purpose);
  const reads = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.part.reads.reads));
  return { template: { facts, reads, fill } };
}

/**
 * Compiles a text that consists of a single `${{ expression }}` whose value is taken from a command, or returns all its
 * problems. The texts are inserted unchanged, so only arguments that treat them as data, such as names to look up,
 * accept such a template.
 */
export function compileListTemplate(
  source: string,
  context: ExpressionContext,
): { readonly list: ListTemplate } | { readonly problems: readonly ExpressionProblem[] } {
  const split = splitTemplate(source);
  if ('problems' in split) return split;
  const [piece] = split.pieces;
  const isAlone = split.pieces.length === 1 && typeof piece === 'object';
  const compiled = isAlone ? compilePiece(piece, context, ['list', 'string']) : notAlone(source);
  if ('problems' in compiled) return compiled;
  const { part, facts } = compiled;
  const [request] = facts;
  const read = (knowledge: Knowledge, meter: Meter): FilledList => {
    const known = request && knowledge.find(request);
    const found = known !== undefined && 'value' in known && readMember(known.value, 'found') === true;
    return readTexts(part, new Values(knowledge, context.environment, meter), found);
  };
  return { list: { facts, reads: part.reads.reads, read } };
}

function notAlone(source: string): { readonly problems: readonly ExpressionProblem[] } {
  const message = `a list is inserted by one ${opening} … }} with no other text`;
  return { problems: [{ code: 'template', message, start: 0, end: source.length }] };
}

function readTexts(part: Part, values: Values, found: boolean): FilledList {
  const result = runPart(part, values);
  if ('error' in result) return { ...result, error: `${part.text}: ${result.error}` };
  const texts: readonly unknown[] = Array.isArray(result.value) ? result.value : [result.value];
  if (!texts.every((item) => typeof item === 'string'))
    return { error: `${part.text} is ${describeValue(result.value)}, not texts` };
  try {
    const length = texts.reduce((sum, item) => sum + item.length, texts.length);
    values.meter.charge(length * costs.insertedCharacter);
  } catch (error) {
    if (error instanceof LimitExceeded) return { error: `${part.text}: ${error.message}` };
    throw error;
  }
  return { value: { command: texts, found } };
}

/** Returns the texts of the expressions that a template inserts; none if it is malformed. */
export function insertedIn(source: string): readonly string[] {
  const split = splitTemplate(source);
  if ('problems' in split) return [];
  return split.pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.expression]));
}

type Piece = { readonly expression: string; readonly offset: number };

function splitTemplate(
  source: string,
): { readonly pieces: readonly (string | Piece)[] } | { readonly problems: readonly ExpressionProblem[] } {
  const pieces: (string | Piece)[] = [];
  let literal = '';
  let at = 0;
  while (at < source.length) {
    if (source.startsWith(`$${opening}`, at)) {
      literal += opening;
      at += opening.length + 1;
    } else if (source.startsWith(opening, at)) {
      const end = endOfInserted(source, at + opening.length);
      if (end === undefined) {
        const message = `this ${opening} is never closed by }}; to write it literally, use $${opening}`;
        return { problems: [{ code: 'template', message, start: at, end: source.length }] };
      }
      if (literal !== '') pieces.push(literal);
      literal = '';
      pieces.push({ expression: source.slice(at + opening.length, end), offset: at + opening.length });
      at = end + 2;
    } else {
      literal += source[at];
      at += 1;
    }
  }
  if (literal !== '' || pieces.length === 0) pieces.push(literal);
  return { pieces };
}

/** Returns the offset of the closing `}}`, skipping braces of maps and quoted texts; undefined if there is none. */
export function endOfInserted(source: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const sign = source[at];
    if (sign === '"' || sign === "'") {
      const closed = endOfText(source, at);
      if (closed === undefined) return undefined;
      at = closed;
    } else if (sign === '{') depth += 1;
    else if (sign === '}' && depth > 0) depth -= 1;
    else if (sign === '}' && source[at + 1] === '}') return at;
  }
  return undefined;
}

function endOfText(source: string, from: number): number | undefined {
  for (let at = from + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === source[from]) return at;
  }
  return undefined;
}

/** A compiled expression of a template. */
type CompiledPiece = {
  readonly part: Part;
  readonly facts: readonly FactRequest[];
  /** Whether the value is a URL that the forge creates, without parts that users can choose. */
  readonly isAddress: boolean;
};

const insertable = ['string', 'number', 'bool', 'timestamp', 'duration'] as const;

function compilePiece(
  piece: Piece,
  context: ExpressionContext,
  kinds: readonly Type['kind'][] = insertable,
): CompiledPiece | { readonly problems: readonly ExpressionProblem[] } {
  const shift = (problem: ExpressionProblem): ExpressionProblem => ({
    ...problem,
    start: problem.start + piece.offset,
    end: problem.end + piece.offset,
    ...(problem.fix && {
      fix: {
        ...problem.fix,
        start: problem.fix.start + piece.offset,
        end: problem.fix.end + piece.offset,
      },
    }),
  });
  const { onWarning } = context;
  const shifted = onWarning && { onWarning: (warning: ExpressionProblem) => onWarning(shift(warning)) };
  const resolved = resolveExpression(piece.expression, { ...context, ...shifted });
  if ('problems' in resolved) return { problems: resolved.problems.map(shift) };
  const { node, type, resolution } = resolved;
  if (!mayBe(type, kinds)) {
    const member = remedyMemberOf(type);
    const hint = member === undefined ? undefined : `write ${textOf(node)}.${member}`;
    const what = kinds === insertable ? 'text, numbers, times and true or false' : 'a list';
    const message = withHint(`only ${what} can be inserted`, hint);
    return { problems: [shift({ code: 'expression-type', message, start: node.start, end: node.end })] };
  }
  const isAddress = chainOf(node)?.at(-1) === 'html_url';
  return { part: createPart(node, resolution), facts: [...resolution.facts.values()], isAddress };
}

function fillPieces(
  pieces: readonly (string | CompiledPiece)[],
  values: Values,
  purpose: TextPurpose,
): Filled {
  const parts: TextPart[] = [];
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      parts.push({ text: piece, isInserted: false });
      continue;
    }
    const inserted = insert(piece.part, values, purpose);
    if ('error' in inserted) return inserted;
    const { value } = inserted;
    if (pieces.length === 1 && typeof value !== 'string') return inserted;
    parts.push({ text: String(value), isInserted: typeof value === 'string' && !piece.isAddress });
  }
  return { value: purpose.readByForge ? breakReferences(parts) : parts.map(({ text }) => text).join('') };
}

function insert(part: Part, values: Values, purpose: TextPurpose): Filled {
  const result = runPart(part, values);
  if ('error' in result) return { ...result, error: `${part.text}: ${result.error}` };
  const { value } = result;
  if (typeof value === 'string') {
    try {
      values.meter.charge(Math.min(value.length, maxLookedAt) * costs.insertedCharacter);
    } catch (error) {
      if (error instanceof LimitExceeded) return { error: `${part.text}: ${error.message}` };
      throw error;
    }
    return { value: harmless(value, purpose) };
  }
  if (typeof value === 'boolean' || typeof value === 'number') return { value };
  if (typeof value === 'bigint') return { value: Number(value) };
  if (value instanceof Double) return { value: value.value };
  // The format is RFC 3339, without a zero fraction.
  if (value instanceof Date) return { value: value.toISOString().replace('.000Z', 'Z') };
  if (value instanceof Duration) return { value: value.toString() };
  return { error: `${part.text} is ${describeValue(value)} and cannot be inserted` };
}

/** Control, invisible and bidirectional characters. */
const unwanted = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Control, invisible and bidirectional characters, except tabs and line feeds. */
const unwantedInLines =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Maximum length of a text that is processed; the rest would be truncated anyway. */
const maxLookedAt = limits.insertedLines;

function harmless(text: string, { readByForge, lines, commit }: TextPurpose): string {
  const looked = text.slice(0, maxLookedAt);
  const clean = (lines ? cleanLines(looked) : cleanLine(looked)).toWellFormed();
  const limit = lines ? limits.insertedLines : limits.inserted;
  const isCut = clean.length > limit || text.length > maxLookedAt || Buffer.byteLength(clean) > limit;
  const short = isCut ? cutToBytes(clean, limit) : clean;
  if (commit) return short;
  // Bots execute lines that begin with a slash and a word, and may trust Reeve's account.
  const quiet = lines && readByForge ? short.replace(/^([ \t]*\/)(?=\p{L})/gmu, '$1\u200b') : short;
  // The forge notifies an account unless its `@` follows a letter; an invisible space prevents the notification.
  return quiet.replace(/(?<![\w.+/-])@(?=[\w-])/g, '@\u200b');
}

function cleanLine(text: string): string {
  return text
    .replace(/\s+/g, (space) => (/[\r\n\u2028\u2029]/.test(space) ? ' ' : space.replaceAll('\t', ' ')))
    .replace(unwanted, '');
}

function cleanLines(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(unwantedInLines, '');
}

function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text.slice(0, limit), 'utf8').subarray(0, limit - 3);
  return `${bytes.toString('utf8').replace(/\ufffd+$/, '')}…`;
}
