import { operations } from '../contract/operations.ts';
import type { Comment } from '../contract/resources/comments.ts';
import { comments } from '../facts/comments.ts';
import { type Facts, optionalRequestOf } from '../facts/fact.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import type { Change } from './change.ts';
import { type ForgeObject, pathParams, readItems } from './inverses/forms.ts';
import type { Inverse } from './inverses/inverse.ts';
import { isSameText } from './marker.ts';

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

/** How `reeve revert` reverts a comment that `writeComment` wrote. */
export const commentInverses: Readonly<Record<string, Inverse>> = {
  [operations.createComment.id]: undoCreateComment,
  [operations.editComment.id]: undoEditComment,
};

/** Returns the change that gives our comment this text: `live` is edited; without one, it is created. */
export function writeComment(
  live: Comment | undefined,
  body: string,
  { action, target, facts }: Pick<Change, 'action' | 'target'> & { readonly facts: Facts },
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
      : { reason: 'the comment has another text' }),
  };
}
