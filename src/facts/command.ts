import { z } from 'zod';
import type { Family } from '../contract/events/event-families.ts';
import type { Comment } from '../contract/resources/comments.ts';
import { flag, list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { comment as commentRow } from './comments.ts';
import { type AskContext, defineFact, type FactOccasion, type FactRequest, requestOf } from './fact.ts';

/**
 * A command, whether found or not; `reason` explains why it was not found. `users` and `milestone` are readings of
 * `args`: nothing is known of whether they exist.
 */
const Command = z.object({
  found: flag,
  args: list(text),
  users: list(text),
  milestone: text,
  text,
  reason: text,
});
type Command = z.output<typeof Command>;

/** Maximum number of characters of a comment that are read; forges accept more. */
export const maxCommandBody = 64 * 1024;

const commentFamilies: readonly Family[] = ['issue_comment', 'pull_request_comment'];

/** Returns whether events of a family are about a comment, which may contain commands. */
export function isAboutComment(family: Family): boolean {
  return commentFamilies.includes(family);
}

/** A command in the comment that caused the run. */
export const command = defineFact({
  name: 'command',
  meaning:
    'The lines `/label bug "good first issue"` of the comment that caused the run, by the name of the command: `args` are the words (double quotes hold some together), `users` are the words without `@` and comma, `milestone` the words as one title, `text` is what stands after the name; several lines of one name are added up. Lines in quotes, in code and in hidden HTML are none. It is `found` only for a new comment, if the live comment exists with the same text, its author is the one who caused the event, and it is younger than the delivery lifetime; otherwise `reason` says why not. Each rule executes the commands of a comment once, also if the delivery is repeated. A rule that reads more than `found` and `reason` obeys people with write access, unless `permission` of the rule says otherwise; a rule that reads `found` alone obeys everyone who may comment, unless it has `permission`. Arguments may be compared in conditions; where they may be inserted, the page of each [action](../README.md#actions) says.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Command,
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  families: commentFamilies,
  elsewhere: true,
  argument: 'label',
  examineArgument: (argument) =>
    commandName.test(argument) ? undefined : 'name the command in lower case, without the slash',
  requests: 1,
  example: 'command("deploy").args == ["staging"]',
  complete: completeCommand,
  async ask(context, name = '') {
    const read = await readComment(context);
    return 'reason' in read ? notFound(read.reason) : findCommand(read.body, name);
  },
});

/** Returns the value for a command that was not found. */
export function notFound(reason: string): Command {
  return { ...readArguments([], ''), found: false, reason };
}

/** Returns the value for a command with these arguments. */
function readArguments(args: readonly string[], written: string): Command {
  return {
    found: true,
    args: [...args],
    users: args.map((word) => word.replace(/^@|,$/g, '')),
    milestone: args.join(' '),
    text: written,
    reason: '',
  };
}

/** Members that say nothing of what the author wrote after the name. */
const withoutArguments: ReadonlySet<unknown> = new Set(['found', 'reason']);

/** Returns whether a read of a fact contains text that the author of a comment wrote after the name of a command. */
export function readsArguments(root: FactRequest, [member]: readonly (string | number)[]): boolean {
  return root.name === command.name && !withoutArguments.has(member);
}

/** Returns the text of the comment that caused the run, or the reason why its commands are rejected. */
async function readComment({
  occasion,
  subject,
  ask,
}: AskContext): Promise<{ readonly body: string } | { readonly reason: string }> {
  if (occasion === undefined || subject.comment === undefined)
    return { reason: 'the event is not about a comment' };
  if (occasion.event.activity !== 'created') return { reason: 'the comment is not new' };
  let live: Comment;
  try {
    live = await ask(requestOf(commentRow));
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found')
      return { reason: 'the comment no longer exists' };
    throw error;
  }
  const reason = reasonAgainst(live, occasion);
  return reason === undefined ? { body: live.body ?? '' } : { reason };
}

/**
 * Returns why the commands of a comment are rejected; undefined if they are accepted. Anyone with write access to an
 * issue may edit the comment of another person, so the text and the author must match the event: neither an edited
 * comment nor a replayed delivery can act in the author's name.
 */
function reasonAgainst(
  live: Comment,
  { event, now, maxAnnouncedAgeMs = Number.POSITIVE_INFINITY }: FactOccasion,
): string | undefined {
  const said: unknown = event.payload.comment;
  const delivered: unknown =
    typeof said === 'object' && said !== null ? Reflect.get(said, 'body') : undefined;
  const author = live.user?.id;
  if (author === undefined || author <= 0 || author !== event.sender?.id)
    return 'the author of the comment is not the account that caused the event';
  if (typeof delivered !== 'string' || delivered !== live.body) return 'the comment was edited';
  const ageMs = now.getTime() - Date.parse(live.created_at ?? '');
  // Also rejects a time that cannot be parsed, whose age is NaN.
  if (!(ageMs <= maxAnnouncedAgeMs)) return 'the comment is older than the delivery lifetime';
  return delivered.length > maxCommandBody
    ? `the comment has more than ${maxCommandBody} characters`
    : undefined;
}

function findCommand(body: string, name: string): Command {
  const lines = parseCommandLines(body).filter((line) => line.name === name);
  if (lines.length === 0) return notFound(`the comment has no line /${name} outside of quotes and code`);
  return readArguments(
    lines.flatMap(({ args }) => args),
    lines.map((line) => line.text).join('\n'),
  );
}

/** Completes a `command` value in a facts file: a list of arguments, a text, `true`, `false`, or an object. */
function completeCommand(written: unknown): unknown {
  if (Array.isArray(written)) return readArguments(written.map(String), written.join(' '));
  if (typeof written === 'string') return readArguments(splitArguments(written), written);
  if (written === true) return readArguments([], '');
  if (written === false) return notFound('the comment has no such line');
  if (typeof written !== 'object' || written === null) return written;
  const { args, text: said }: { readonly args?: unknown; readonly text?: unknown } = written;
  const words = Array.isArray(args) ? args.map(String) : splitArguments(typeof said === 'string' ? said : '');
  return { ...readArguments(words, words.join(' ')), ...written };
}

/** A command in a comment, for example `/label bug "good first issue"`. */
type CommandLine = {
  readonly name: string;
  readonly args: readonly string[];
  /** Text after the name, as written. */
  readonly text: string;
};

/** A valid name for `command("…")`. */
const commandName = /^[a-z][a-z0-9_-]{0,39}$/;

const commandLine = /^\/([a-z][a-z0-9_-]{0,39})(?:[ \t]+(.*))?$/;
const openingFence = /^(`{3,}|~{3,})(.*)$/;
/**
 * Per CommonMark, a closing fence is indented by at most three spaces; a line with more indentation belongs to the
 * code.
 */
const closingFence = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** List markers before the content. */
const listPrefix = '[ \\t]*(?:(?:[-+*]|\\d{1,9}[.)])[ \\t]+)*';
/**
 * A fence that is indented or in a list item: the line alone does not show whether the code block ends with the list
 * item.
 */
const nestedFence = new RegExp(`^(?=[ \\t\\-+*\\d])${listPrefix}(?:\`{3,}|~{3,})`);
const quoteLine = new RegExp(`^${listPrefix}>`);
const htmlLine = /^ {0,3}<[a-z/!?]/i;
/** HTML blocks whose content is shown verbatim, or not at all. */
const openingRaw = /<!--|<(pre|code|script|style|textarea|template|xmp|listing|plaintext)\b/g;
/** Marks a code span that may or may not be open. */
const uncertainSpan = 'uncertain';

/** Parser state: which part of a comment is code, a quote or hidden. */
type Reading = {
  /** Fence that opened the code block. */
  fence: string | undefined;
  /** Text that ends the HTML block: `-->`, `</pre`. */
  raw: string | undefined;
  /** Set inside a quote or an HTML block, up to the next empty line. */
  inQuote: boolean;
  inHtml: boolean;
  /** Backticks of an unclosed code span in the current paragraph. */
  span: string | undefined;
};

/**
 * Returns the commands of a comment, in order: lines that begin with a slash and a name. Text that the forge hides or
 * renders as a quote or code contains no commands. The same applies to text whose state is uncertain. Runs in linear
 * time.
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

/** Returns whether a line may or may not begin a code block, which makes the state of the following lines uncertain. */
function isUncertain(line: string, { fence, raw, inHtml }: Reading): boolean {
  if (fence !== undefined) return false;
  return nestedFence.test(line) || ((raw !== undefined || inHtml) && openingFence.test(line));
}

/** Returns whether a line is code, a quote or hidden, and updates the parser state. */
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
  // Backticks followed by more backticks on the same line form a code span, not a fence.
  if (marks !== undefined && !(marks.startsWith('`') && info.includes('`'))) {
    Object.assign(reading, { fence: marks, inQuote: false, span: undefined });
    return true;
  }
  // In Markdown, a paragraph that begins in a quote continues up to the next empty line.
  reading.inQuote ||= quoteLine.test(line);
  return reading.inQuote;
}

/** Returns the end marker of the HTML block or comment that a line, in lower case, leaves open. */
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
  // A backslash or a tag may escape a backtick.
  if (line.includes('`') && /[\\<]/.test(line)) return uncertainSpan;
  let span = open;
  for (const [run] of line.matchAll(/`+/g)) {
    if (span === undefined) span = run;
    else if (span === run) span = undefined;
  }
  return span;
}

/** Splits at white space; double quotes group words, and `\` escapes a quote or itself. */
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
