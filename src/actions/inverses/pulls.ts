import { operations } from '../../contract/operations.ts';
import { type ForgeObject, pathParams, readItems } from './forms.ts';
import type { Inverse } from './inverse.ts';

/** Closes a pull request that was opened, found by its branches among the open ones: no API deletes one. */
export const undoCreatePull: Inverse = async (change, client) => {
  const { head, base } = (change.input.body ?? {}) as ForgeObject;
  const params = pathParams(change);
  const open = await readItems(client, operations.listPulls, { params, query: { state: 'open' } });
  const found = open.find((pull) => {
    const [from, into] = [pull.head as ForgeObject | null, pull.base as ForgeObject | null];
    // A fork may have a branch of the same name, and a pull request of its own from it.
    return from?.ref === head && into?.ref === base && from?.repo_id === into?.repo_id;
  });
  return {
    value: found === undefined ? null : change.after,
    undo: () => ({
      operation: operations.editPull,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};
