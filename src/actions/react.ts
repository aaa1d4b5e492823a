import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Reaction } from '../contract/resources/reactions.ts';
import { reactions as reactionsRow } from '../facts/comments.ts';
import { type Facts, optionalRequestOf } from '../facts/fact.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import { condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams, readItems } from './inverses.ts';
import { askWritten, isByUs } from './texts.ts';

const React = z.strictObject({
  reaction: z
    .string()
    .regex(/^[\w+-]{1,30}$/, 'name a reaction, such as +1 or eyes')
    .meta({
      description:
        '`+1`, `-1`, `laugh`, `hooray`, `confused`, `heart`, `rocket`, `eyes`, or another one of the forge.',
    }),
  when: condition()
    .optional()
    .meta({ description: 'The reaction exists while this condition holds; default: always.' }),
});
type React = z.output<typeof React>;

const reactionsFact = optionalRequestOf(reactionsRow);

const rows = {
  comment: {
    list: operations.listCommentReactions,
    add: operations.addCommentReaction,
    remove: operations.removeCommentReaction,
  },
  issue: {
    list: operations.listIssueReactions,
    add: operations.addIssueReaction,
    remove: operations.removeIssueReaction,
  },
} as const;

/** Returns the inverse of adding or removing our reaction. */
function undoReaction(row: (typeof rows)[keyof typeof rows]): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const { content } = (change.input.body ?? {}) as { readonly content?: string };
    const { id } = await client.call(operations.getSelf, {});
    const all = (await readItems(client, row.list, { params })) as unknown as readonly Reaction[];
    const isThere = all.some((one) => one.content === content && one.user?.id === id);
    const input = { params, body: { content } };
    return { value: isThere, undo: () => ({ operation: isThere ? row.remove : row.add, input }) };
  };
}

/** Keeps the bot's own reaction on the subject of the event; reactions of others are never changed. */
export const react = defineAction<React>({
  name: 'react',
  meaning:
    'Keeps the reaction of Reeve’s account on the comment that the event is about; without a comment, on the issue or pull request. While `when` does not hold, it is removed. Reactions of others are never changed.',
  example: `uses: react
with: { reaction: eyes }
`,
  arguments: React,
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  // Must not be repeated, because a reaction that a person removed would return.
  describesState: false,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    [operations.addIssueReaction.id]: undoReaction(rows.issue),
    [operations.removeIssueReaction.id]: undoReaction(rows.issue),
    [operations.addCommentReaction.id]: undoReaction(rows.comment),
    [operations.removeCommentReaction.id]: undoReaction(rows.comment),
  },
  adoption: undefined,
  facts: () => [reactionsFact],
  async plan(given, facts, context) {
    const all = await askWritten(facts, reactionsFact);
    const isThere =
      context.account !== undefined &&
      all.some((one) => one.content === given.reaction && isByUs(one, context));
    return [reactionChange(given, isThere, facts)];
  },
});

function reactionChange({ reaction, when = true }: React, isThere: boolean, facts: Facts): Change {
  const { subject } = facts;
  const row = rows[subject.comment === undefined ? 'issue' : 'comment'];
  const params =
    subject.comment === undefined
      ? indexParams(subject)
      : { ...repositoryParams(subject), id: subject.comment };
  const where = subject.comment === undefined ? `#${subject.index}` : `comment ${subject.comment}`;
  return {
    action: 'react',
    operation: (when ? row.add : row.remove).id,
    input: { params, body: { content: reaction } },
    target: `reaction:${reaction} on ${where}`,
    value: when,
    before: isThere,
    after: when,
    reads: [reactionsFact],
    ...(isThere === when
      ? { already: true, reason: 'already in the desired state' }
      : { reason: when ? 'the rule reacts' : 'the condition does not hold' }),
  };
}
