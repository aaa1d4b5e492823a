import type { Action } from '../../actions/action.ts';
import { isRecord } from '../../contract/events/payload-members.ts';
import { type ArgumentPath, conditionsIn } from '../arguments.ts';
import { endOfInserted, opening } from '../expressions/template.ts';
import { type ParameterValue, type ParameterValues, unknownParameter } from './parameters.ts';
import type { YamlPath, YamlSource } from './yaml-source.ts';

/** Reports a problem at a value of the file, or at a range in the text of the value if offsets are given. */
type ReportExpansion = (path: YamlPath, message: string, inside?: { start: number; end: number }) => void;

type ExpandedFile = {
  readonly actions: readonly Action[];
  readonly given: ExpandingWith;
  /** Expanded texts, by path of the value. */
  readonly texts: Map<string, Expansion>;
  readonly report: ReportExpansion;
};

/** Maximum number of characters of a file after its parameters are inserted. */
const maxExpanded = 64 * 1024;

/**
 * Returns the file with every `${{ params.NAME }}` replaced by the parameter's value, in all places except `uses`,
 * `include` and `in`. Problems keep the positions of the original text. A text that consists of a single reference
 * keeps the parameter's type; in conditions, values become literals. The result has the same size limit as a file.
 */
export function expandFile(
  file: YamlSource,
  options: {
    readonly values: ParameterValues;
    readonly isDeclared: boolean;
    readonly actions: readonly Action[];
    /** Number of characters in the text of the file. */
    readonly length: number;
    readonly report: ReportExpansion;
  },
): YamlSource {
  const { values, isDeclared, actions, length, report } = options;
  let left = maxExpanded - length;
  const charge = (characters: number): boolean => {
    const wasRoom = left >= 0;
    left -= characters;
    if (left < 0 && wasRoom) report([], 'with its parameter values inserted, the file is larger than 64 KiB');
    return left >= 0;
  };
  const texts = new Map<string, Expansion>();
  const work: ExpandedFile = { actions, given: { values, isDeclared, charge }, texts, report };
  const value = expandRoot(file.value, work);
  const inside = (path: YamlPath, offset: number): number =>
    file.inside(path, texts.get(JSON.stringify(path))?.originOf(offset) ?? offset);
  return { ...file, value, inside };
}

function expandRoot(root: unknown, work: ExpandedFile): unknown {
  if (!isRecord(root)) return root;
  return mapMembers(root, [], work, (key, member) => {
    if (key === 'params') return member;
    if (key === 'include' || key === 'in') return refuseIn(member, [key], key, work);
    if (key === 'conditions') return expandValue(member, [key], work, () => true);
    if (key === 'rules' && isRecord(member)) {
      return mapMembers(member, ['rules'], work, (name, rule) => expandRule(rule, ['rules', name], work));
    }
    return expandValue(member, [key], work);
  });
}

function expandRule(rule: unknown, at: YamlPath, work: ExpandedFile): unknown {
  if (!isRecord(rule)) return expandValue(rule, at, work);
  return mapMembers(rule, at, work, (key, member) => {
    const path = [...at, key];
    if (key === 'in') return refuseIn(member, path, key, work);
    if (key === 'if') return expandValue(member, path, work, () => true);
    if (key === 'steps' && Array.isArray(member)) {
      return member.map((step, place) => expandStep(step, [...path, place], work));
    }
    if (key === 'each' && isRecord(member)) return expandEach(member, path, work);
    return expandValue(member, path, work);
  });
}

function expandEach(each: Readonly<Record<string, unknown>>, at: YamlPath, work: ExpandedFile): unknown {
  return mapMembers(each, at, work, (kind, filter) => {
    const path = [...at, kind];
    if (!isRecord(filter)) return expandValue(filter, path, work);
    return mapMembers(filter, path, work, (key, member) =>
      key === 'in' ? refuseIn(member, [...path, key], key, work) : expandValue(member, [...path, key], work),
    );
  });
}

function expandStep(step: unknown, at: YamlPath, work: ExpandedFile): unknown {
  if (!isRecord(step)) return expandValue(step, at, work);
  const action = work.actions.find(({ name }) => name === step.uses);
  return mapMembers(step, at, work, (key, member) => {
    const path = [...at, key];
    // An expression in `uses` is reported when the step is loaded.
    if (key === 'uses') return member;
    if (key === 'if') return expandValue(member, path, work, () => true);
    if (key !== 'with' || action === undefined) return expandValue(member, path, work);
    const before = keysOf(conditionsIn(member, action.arguments), path);
    const expanded = expandValue(member, path, work, (inner) => before.has(JSON.stringify(inner)));
    // Inserting values may change the form of the arguments. A text that was expanded as plain text must not become a
    // condition because of that.
    for (const inner of conditionsIn(expanded, action.arguments)) {
      const place = [...path, ...inner];
      const key = JSON.stringify(place);
      if (!work.texts.has(key) || before.has(key)) continue;
      work.report(
        place,
        'no parameter can be inserted here: write out the condition, with params.NAME in it',
      );
    }
    return expanded;
  });
}

function keysOf(paths: readonly ArgumentPath[], at: YamlPath): ReadonlySet<string> {
  return new Set(paths.map((path) => JSON.stringify([...at, ...path])));
}

function expandValue(
  value: unknown,
  path: YamlPath,
  work: ExpandedFile,
  isCondition: (path: YamlPath) => boolean = () => false,
): unknown {
  if (typeof value === 'string') return expandString(value, path, work, isCondition(path));
  if (Array.isArray(value)) {
    return value.map((item, place) => expandValue(item, [...path, place], work, isCondition));
  }
  if (!isRecord(value)) return value;
  return mapMembers(value, path, work, (key, member) =>
    expandValue(member, [...path, key], work, isCondition),
  );
}

function expandString(
  text: string,
  path: YamlPath,
  work: ExpandedFile,
  isCondition: boolean,
): ParameterValue {
  if (!text.includes('params')) return text;
  const whole = isCondition ? undefined : wholeReference(text);
  if (whole !== undefined) return wholeValue(whole, path, work);
  const expanded = isCondition ? expandCondition(text, work.given) : expandText(text, work.given);
  for (const { message, start, end } of expanded.problems) work.report(path, message, { start, end });
  if (expanded.text === text) return text;
  work.texts.set(JSON.stringify(path), expanded);
  return expanded.text;
}

function wholeValue(name: string, path: YamlPath, { given, report, texts }: ExpandedFile): ParameterValue {
  const value = given.values.get(name);
  if (value === undefined) {
    report(path, unknownParameter(name, [...given.values.keys()]));
    return '';
  }
  const expanded = expandText(`\${{ params.${name} }}`, {
    ...given,
    values: new Map([[name, typeof value === 'object' ? value.join('') : value]]),
  });
  texts.set(JSON.stringify(path), expanded);
  return value;
}

/** Returns the value unchanged, and reports any references in it. */
function refuseIn(value: unknown, path: YamlPath, where: string, work: ExpandedFile): unknown {
  if (typeof value === 'string' && hasReference(value)) {
    work.report(path, `parameters cannot be used in "${where}": write out what the file can reach`);
  }
  if (Array.isArray(value))
    for (const [place, item] of value.entries()) refuseIn(item, [...path, place], where, work);
  else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) refuseIn(member, [...path, key], where, work);
  }
  return value;
}

function mapMembers(
  map: Readonly<Record<string, unknown>>,
  at: YamlPath,
  work: ExpandedFile,
  change: (key: string, member: unknown) => unknown,
): Record<string, unknown> {
  const members = Object.entries(map).map(([key, member]) => {
    if (hasReference(key))
      work.report([...at, key], `parameters cannot be used in a key: "${key.slice(0, 60)}"`);
    return [key, change(key, member)] as const;
  });
  // `Object.fromEntries` creates own members, even for `__proto__`; an assignment would set the prototype.
  return Object.fromEntries(members);
}

/** Values and callbacks that an expansion needs. */
type ExpandingWith = {
  readonly values: ParameterValues;
  /** Whether the file declares parameters. Only then does `params` in expressions refer to them. */
  readonly isDeclared: boolean;
  /** Called with the length of each value before the value is inserted; returns false once the limit is exceeded. */
  readonly charge: (characters: number) => boolean;
};

/** Matches `${{ params.NAME }}` at an exact position. */
const reference = /\$\{\{\s*params\s*\.\s*([A-Za-z_]\w*)\s*\}\}/y;
const word = /[A-Za-z_]\w*/y;
const member = /params\s*\.\s*([A-Za-z_]\w*)/y;

/** Returns whether a text contains `${{ params.NAME }}`. */
function hasReference(text: string): boolean {
  return new RegExp(reference.source).test(text);
}

/** Returns the name of the parameter if the whole text is a single reference, otherwise undefined. */
function wholeReference(text: string): string | undefined {
  const found = matchAt(reference, text, 0);
  return found?.[0].length === text.length ? found[1] : undefined;
}

/**
 * Expands a text that is not a condition: `${{ params.NAME }}` is replaced by the value; in other expressions of the
 * text, `params.NAME` becomes a literal. `$${{` is left unchanged.
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
 * Expands a condition: `params.NAME` and `${{ params.NAME }}` become CEL literals. Inside quotes, a reference becomes
 * an escaped part of the quoted text. A value can never end a literal, so it can never become an expression.
 */
export function expandCondition(source: string, given: ExpandingWith): Expansion {
  const out = new Expansion();
  expandInto(source, { start: 0, end: source.length }, out, given);
  return out;
}

/**
 * Expands an expression. Splits it into the same tokens as the parser: comments, quoted texts, words, and everything
 * else.
 */
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

/** Expands one word, reference or character outside quotes. Returns the offset after it. */
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

/** Matches `params.NAME`, unless `params` is a member of another value. */
function memberAt(source: string, at: number): RegExpExecArray | undefined {
  return /\.\s*$/.test(source.slice(Math.max(0, at - 20), at)) ? undefined : matchAt(member, source, at);
}

type Quoted = { readonly end: number; readonly isPlain: boolean };

/**
 * Returns the end of the quoted text that begins here, according to the parser's rules; undefined if no quoted text
 * begins here.
 */
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
    // A backslash before the reference would escape the first character of the value; the following character might
    // then end the quoted text.
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
      const message = `a list cannot be inserted into a text: write params.${found[1]} outside the quotes`;
      out.report(message, span.start, span.end);
    } else insertLiteral(escaped(String(value)), span, out, given);
  }
  out.copy(source, at, end);
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
    const message = 'a list cannot be part of a text: use it as a separate value, which keeps its type';
    out.report(message, span.start, span.end);
  } else insertLiteral(String(value), span, out, given);
}

function insertLiteral(text: string, { start }: ReferenceSpan, out: Expansion, given: ExpandingWith): void {
  if (given.charge(text.length)) out.insert(text, start);
}

/** Returns the CEL literal of a value. */
function literalOfValue(value: ParameterValue): string {
  if (typeof value === 'string') return `"${escaped(value)}"`;
  if (typeof value === 'object') return `[${value.map(literalOfValue).join(', ')}]`;
  // The parentheses separate a minus sign from a preceding operator.
  return typeof value === 'number' && value < 0 ? `(${value})` : String(value);
}

/** Returns a text escaped for single and double quotes. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
}

/** Reports values that, together with adjacent text, form a new expression, such as `$` before `{{`. */
function refuseSeams(out: Expansion): void {
  for (const { index } of out.text.matchAll(/\$?\$\{\{/g)) {
    const isDouble = out.text.startsWith(`$${opening}`, index);
    const from = out.seamIn(index, index + opening.length + (isDouble ? 1 : 0));
    if (from === undefined) continue;
    const message = `the value and the adjacent text together form "${opening}": separate them`;
    out.report(message, from, from + 1);
  }
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

/** A segment of an expanded text, with its position in the original text. */
type ExpandedSegment = {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  /** Whether the segment is an inserted value rather than copied text. */
  readonly isInserted: boolean;
};

/** A problem in a text with parameters; offsets refer to the original text. */
type ExpansionProblem = { readonly message: string; readonly start: number; readonly end: number };

/** An expanded text: copied segments and inserted values, each with its position in the original text. */
class Expansion {
  text = '';
  readonly problems: ExpansionProblem[] = [];
  readonly #segments: ExpandedSegment[] = [];

  /** Appends a range of the original text. */
  copy(source: string, from: number, to: number): void {
    this.#append(source.slice(from, to), from, false);
  }

  /** Appends a value that replaces the original text starting at `from`. */
  insert(value: string, from: number): void {
    this.#append(value, from, true);
  }

  report(message: string, start: number, end: number): void {
    this.problems.push({ message, start, end });
  }

  /** Returns the offset in the original text that corresponds to an offset in the expanded text. */
  originOf(offset: number): number {
    const segment =
      this.#segments.find(({ start, end }) => offset >= start && offset < end) ?? this.#segments.at(-1);
    if (segment === undefined) return offset;
    return segment.isInserted ? segment.from : segment.from + (offset - segment.start);
  }

  /**
   * Returns the original offset of the first inserted value that overlaps a range of the expanded text; undefined if
   * there is none.
   */
  seamIn(start: number, end: number): number | undefined {
    const touched = this.#segments.find(
      (segment) => segment.isInserted && segment.start < end && segment.end > start,
    );
    return touched?.from;
  }

  #append(text: string, from: number, isInserted: boolean): void {
    if (text === '') return;
    const start = this.text.length;
    this.text += text;
    this.#segments.push({ start, end: this.text.length, from, isInserted });
  }
}
