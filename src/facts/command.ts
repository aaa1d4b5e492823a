import { z } from 'zod';
import type { Comment } from '../contract/resources/comments.ts';
import { flag, list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { commandName, parseCommandLines } from './command-lines.ts';
import { comment as commentRow } from './comment.ts';
import { type AskContext, defineFact, type FactOccasion, requestOf } from './fact.ts';

/** A command, found or not; `reason` says why not. */
const Command = z.object({ found: flag, args: list(text), text, reason: text });
type Command = z.output<typeof Command>;

/** Characters of a comment that are read; forges accept more. */
export const maxCommandBody = 64 * 1024;

/** A command of the comment that caused the run. */
export const command = defineFact({
  name: 'command',
  meaning:
    'The lines `/label bug "good first issue"` of the comment that caused the run, by the name of the command: `args` are the words (double quotes hold some together), `text` is what stands after the name; several lines of one name are added up. Lines in quotes, in code and in hidden HTML are none. It is `found` only for a new comment, if the live comment exists with the same text, its author is the one who caused the event, and it is younger than the delivery lifetime; otherwise `reason` says why not. Each rule executes the commands of a comment once, also if the delivery is repeated. The author can be anyone who may comment: ask `sender_permission` too.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Command,
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  families: ['issue_comment', 'pull_request_comment'],
  elsewhere: true,
  argument: 'label',
  examineArgument: (argument) =>
    commandName.test(argument) ? undefined : 'name the command in small letters, without the slash',
  requests: 1,
  example: 'command("label").found && sender_permission in ["write", "admin", "owner"]',
  complete: completeCommand,
  async ask(context, name = '') {
    const read = await readComment(context);
    return 'reason' in read ? notFound(read.reason) : findCommand(read.body, name);
  },
});

/** Returns a command that was not found. */
export function notFound(reason: string): Command {
  return { found: false, args: [], text: '', reason };
}

/** Returns the text of the comment that caused the run, where its commands are to be obeyed, or why they are not. */
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
 * Returns why a comment is not obeyed. Anyone who may write in an issue may edit the comment of another person, so that text
 * and author are those of the event: neither an edit nor a delivery that was recorded speaks in the name of the author.
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
  // An instant that cannot be read is no age.
  if (!(ageMs <= maxAnnouncedAgeMs)) return 'the comment is older than the delivery lifetime';
  return delivered.length > maxCommandBody
    ? `the comment has more than ${maxCommandBody} characters`
    : undefined;
}

function findCommand(body: string, name: string): Command {
  const lines = parseCommandLines(body).filter((line) => line.name === name);
  if (lines.length === 0) return notFound(`the comment has no line /${name} outside of quotes and code`);
  return {
    found: true,
    args: lines.flatMap(({ args }) => args),
    text: lines.map((line) => line.text).join('\n'),
    reason: '',
  };
}

/** In a facts file: the arguments alone, or the line as it would be written. */
function completeCommand(written: unknown): unknown {
  if (Array.isArray(written)) return { found: true, args: written, text: written.join(' '), reason: '' };
  if (written === false) return notFound('the comment has no such line');
  if (typeof written !== 'object' || written === null) return written;
  return { found: true, args: [], text: '', reason: '', ...written };
}
