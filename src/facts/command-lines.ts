/** One command of a comment: `/label bug "good first issue"`. */
export type CommandLine = {
  readonly name: string;
  readonly args: readonly string[];
  /** What stands after the name, as written. */
  readonly text: string;
};

/** A name as `command("…")` takes it. */
export const commandName = /^[a-z][a-z0-9_-]{0,39}$/;

const commandLine = /^\/([a-z][a-z0-9_-]{0,39})(?:[ \t]+(.*))?$/;
const openingFence = /^(`{3,}|~{3,})(.*)$/;
/** A closing fence has at most three spaces before it, as CommonMark has it: one with more is a line of the code. */
const closingFence = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** What a list puts before its content. */
const listPrefix = '[ \\t]*(?:(?:[-+*]|\\d{1,9}[.)])[ \\t]+)*';
/** A fence inside of a list or indented: whether it ends with its list depends on more than a line shows. */
const nestedFence = new RegExp(`^(?=[ \\t\\-+*\\d])${listPrefix}(?:\`{3,}|~{3,})`);
const quoteLine = new RegExp(`^${listPrefix}>`);
const htmlLine = /^ {0,3}<[a-z/!?]/i;
/** Blocks of HTML whose content is shown as it is written, or not at all. */
const openingRaw = /<!--|<(pre|code|script|style|textarea|template|xmp|listing|plaintext)\b/g;
/** An inline code span that may or may not be open. */
const uncertainSpan = 'uncertain';

/** What of a comment is code, a quote or hidden, as far as it was read. */
type Reading = {
  /** The fence that began the code block. */
  fence: string | undefined;
  /** The text that ends a block of HTML: `-->`, `</pre`. */
  raw: string | undefined;
  /** The lines of a quote or a block of HTML, up to the next empty line. */
  inQuote: boolean;
  inHtml: boolean;
  /** The backticks of a code span that the paragraph so far has not closed. */
  span: string | undefined;
};

/**
 * Returns the commands of a comment, in order: lines that begin with a slash and a name. What the forge shows as a quote or
 * as code, and what it hides, is no command; where that is uncertain, it is none either. The time is linear in the text.
 */
export function parseCommandLines(body: string): readonly CommandLine[] {
  const found: CommandLine[] = [];
  const reading: Reading = {
    fence: undefined,
    raw: undefined,
    inQuote: false,
    inHtml: false,
    span: undefined,
  };
  for (const line of body.split(/\r\n|\n|\r/)) {
    if (isUncertain(line, reading)) break;
    if (isHidden(line, reading)) continue;
    const [, name, rest = ''] = commandLine.exec(line) ?? [];
    const wasInSpan = reading.span !== undefined;
    reading.span = openSpan(line, reading.span);
    reading.raw = openRaw(line.toLowerCase());
    reading.inHtml ||= htmlLine.test(line);
    if (name === undefined || wasInSpan) continue;
    const text = rest.trim();
    found.push({ name, args: splitArguments(text), text });
  }
  return found;
}

/** Says whether a line may begin a code block or not, so that nothing after it is certain to be outside of one. */
function isUncertain(line: string, { fence, raw, inHtml }: Reading): boolean {
  if (fence !== undefined) return false;
  return nestedFence.test(line) || ((raw !== undefined || inHtml) && openingFence.test(line));
}

/** Says whether a line is code, a quote or hidden by what stands before or in it, and notes what it opens and closes. */
function isHidden(line: string, reading: Reading): boolean {
  if (reading.fence !== undefined) {
    if (closingFence.exec(line)?.[1]?.startsWith(reading.fence)) reading.fence = undefined;
    return true;
  }
  if (reading.raw !== undefined) {
    const lower = line.toLowerCase();
    const end = lower.indexOf(reading.raw);
    if (end >= 0) reading.raw = openRaw(lower.slice(end + reading.raw.length));
    return true;
  }
  if (line.trim() === '') {
    Object.assign(reading, { inQuote: false, inHtml: false, span: undefined });
    return true;
  }
  const [, marks, info = ''] = openingFence.exec(line) ?? [];
  // Backticks with more backticks after them in the line are a span.
  if (marks !== undefined && !(marks.startsWith('`') && info.includes('`'))) {
    Object.assign(reading, { fence: marks, inQuote: false, span: undefined });
    return true;
  }
  // Markdown shows the lines of a paragraph that begins in a quote inside of it, up to the next empty line.
  reading.inQuote ||= quoteLine.test(line);
  return reading.inQuote;
}

/** Returns what ends the last block of HTML or comment that a line in small letters leaves open. */
function openRaw(line: string): string | undefined {
  openingRaw.lastIndex = 0;
  for (let opened = openingRaw.exec(line); opened !== null; opened = openingRaw.exec(line)) {
    const end = opened[1] === undefined ? '-->' : `</${opened[1]}`;
    const closed = line.indexOf(end, openingRaw.lastIndex);
    if (closed < 0) return end;
    openingRaw.lastIndex = closed + end.length;
  }
  return undefined;
}

/** Returns the backticks of a code span that is open at the end of a line. */
function openSpan(line: string, open: string | undefined): string | undefined {
  if (open === uncertainSpan) return open;
  // A backslash or a tag may take a backtick its meaning.
  if (line.includes('`') && /[\\<]/.test(line)) return uncertainSpan;
  let span = open;
  for (const [run] of line.matchAll(/`+/g)) {
    if (span === undefined) span = run;
    else if (span === run) span = undefined;
  }
  return span;
}

/** Splits at white space; double quotes hold words together, and `\` before a quote or itself takes it as it is. */
function splitArguments(text: string): readonly string[] {
  const found: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    const next = text[at + 1];
    if (sign === '\\' && (next === '"' || next === '\\')) {
      word = (word ?? '') + next;
      at += 1;
    } else if (sign === '"') {
      isQuoted = !isQuoted;
      word ??= '';
    } else if (!isQuoted && /\s/.test(sign)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else word = (word ?? '') + sign;
  }
  if (word !== undefined) found.push(word);
  return found;
}
