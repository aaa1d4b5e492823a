import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { Issue } from '../../contract/resources/issues.ts';
import { pathParams } from '../inverses/forms.ts';
import type { Inverse } from '../inverses/inverse.ts';
import { issueFieldOf } from './fields.ts';

/** Returns the inverse of locking, unlocking, pinning or unpinning: the other of the two. */
export function undoModeration(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = Issue.parse(await client.send(operations.getIssue, { params }));
    const input = opposite.body === undefined ? { params } : { params, body: {} };
    return { value: issueFieldOf(live, change.target), undo: () => ({ operation: opposite, input }) };
  };
}
