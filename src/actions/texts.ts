import { operations } from '../contract/operations.ts';
import type { Comment } from '../contract/resources/comments.ts';
import { comments } from '../facts/comments.ts';
import { type Facts, type OptionalRequest, optionalRequestOf } from '../facts/fact.ts';
import { FactNotGiven } from '../facts/given-facts.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import type { Change } from './change.ts';
import { type ForgeObject, type Inverse, pathParams, readItems } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';

/** Text of a comment or an issue, with its author. */
type WrittenText = {
  readonly body?: string | null | undefined;
  readonly user?: { readonly id: number } | null | undefined;
};

/**
 * Returns the marker: the first line of a text that a rule writes under a key. Rule names and keys are percent-encoded,
 * so that untrusted text can neither end the marker nor imitate another marker.
 */
export function markerOf(context: Pick<PlanContext, 'rule'>, key: string, note = ''): string {
  const name = [context.rule, key].map(encodeURIComponent).join('/');
  return `<!-- reeve:${name}${note === '' ? '' : ` ${note}`} -->`;
}

/** Returns the text with the marker as its first line. */
export function withMarker(marker: string, text: string): string {
  return `${marker}\n${text.trim()}`;
}

/**
 * Returns whether Reeve's account wrote this text under the marker: the marker is on the first line, where inserted
 * text never is, and the author is Reeve's account. In a what-if, which has no account, only the marker is checked.
 */
export function isOurs(written: WrittenText, marker: string, context: PlanContext): boolean {
  const [first = ''] = (written.body ?? '').split('\n', 1);
  return first.trimEnd() === marker && isByUs(written, context);
}

/** Returns whether Reeve's account wrote this text; always true in a what-if, which has no account. */
export function isByUs(written: WrittenText, { account }: PlanContext): boolean {
  return account === undefined || written.user?.id === account.id;
}

/** Returns whether two texts are equal except for line endings and trailing white space, which forges change. */
export function isSameText(one: string | null | undefined, other: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();
  return plain(one ?? '') === plain(other);
}

/** Reads a list in which Reeve's own entries are searched; empty in a what-if without this fact. */
export async function askWritten<Item>(
  facts: Facts,
  request: OptionalRequest<readonly Item[]>,
): Promise<readonly Item[]> {
  return askOr(facts, request, []);
}

/** Reads a fact; in a what-if without it, returns the fallback. */
export async function askOr<Value, Fallback>(
  facts: Facts,
  request: OptionalRequest<Value>,
  fallback: Fallback,
): Promise<Value | Fallback> {
  try {
    return await facts.ask<Value>(request);
  } catch (error) {
    if (error instanceof FactNotGiven) return fallback;
    throw error;
  }
}

export const commentsFact = optionalRequestOf(comments);

const undoCreateComment: Inverse = async (change, client) => {
  const params = pathParams(change);
  const found = (await readItems(client, operations.listComments, { params })).find(
    ({ body }) => body === change.after,
  );
  const { index: _index, ...where } = params;
  return {
    value: found === undefined ? null : change.after,
    undo: () => ({ operation: operations.deleteComment, input: { params: { ...where, id: found?.id } } }),
  };
};

const undoEditComment: Inverse = async (change, client) => {
  const live = (await client.send(operations.getComment, { params: pathParams(change) })) as ForgeObject;
  const input = { params: pathParams(change), body: { body: change.before } };
  return { value: live.body, undo: () => ({ operation: operations.editComment, input }) };
};

/** Inverses of the changes created by `writeComment`. */
export const commentInverses: Readonly<Record<string, Inverse>> = {
  [operations.createComment.id]: undoCreateComment,
  [operations.editComment.id]: undoEditComment,
};

/**
 * Returns the change that gives Reeve's comment this text: edits `live`, or creates a comment if `live` is undefined.
 */
export function writeComment(
  live: Comment | undefined,
  body: string,
  { action, target, facts }: { readonly action: string; readonly target: string; readonly facts: Facts },
): Change {
  const common = {
    action,
    target,
    reads: [commentsFact],
    value: body,
    before: live?.body ?? null,
    after: body,
  };
  if (live === undefined) {
    return {
      ...common,
      operation: operations.createComment.id,
      input: { params: indexParams(facts.subject), body: { body } },
      reason: 'the comment does not exist',
    };
  }
  const params = { ...repositoryParams(facts.subject), id: live.id };
  return {
    ...common,
    operation: operations.editComment.id,
    input: { params, body: { body } },
    ...(isSameText(live.body, body)
      ? { already: true, reason: 'the comment already has this text' }
      : { reason: 'the comment has a different text' }),
  };
}

/** Maximum number of characters of an untrusted text that are shown. */
const maxShown = 60;

/**
 * Returns an untrusted text as a Markdown code span on one line. The text cannot end the span, and cannot mention an
 * account, issue or pull request: forges parse mentions even in code in some places, so an invisible space breaks each
 * `@`, `#` and `!`.
 */
export function asCode(text: string): string {
  const plain = text
    .slice(0, 8 * maxShown)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const signs = [...plain];
  const short = signs.length > maxShown ? `${signs.slice(0, maxShown).join('')}…` : plain;
  const quiet = short.replace(/[@#!]/g, '$&\u200b');
  const runs = [...quiet.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  // Without padding, backticks at the ends of the text would merge with those of the code span. Markdown does not
  // render one space at each end.
  const content = runs.length > 0 || quiet === '' ? ` ${quiet} ` : quiet;
  return `${fence}${content}${fence}`;
}
