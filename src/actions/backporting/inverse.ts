import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';
import { type ForgeObject, pathParams } from '../inverses/forms.ts';
import type { Inverse } from '../inverses/inverse.ts';

/**
 * Deletes the branch that a patch was applied on, if it still has that commit and no other beside those of its target. Runs of
 * earlier versions, and those whose answer was lost, know the commit by its message alone.
 */
export const undoPatch: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  const { name, onto } = change.after as { readonly name: string; readonly onto: string };
  let value: ForgeObject | null;
  try {
    const { total_commits, commits } = await client.call(operations.compare, {
      params: { ...params, basehead: `${onto}...${name}` },
    });
    const [newest] = commits;
    const message = newest?.commit?.message?.trimEnd();
    const count = Math.max(total_commits ?? 0, commits.length);
    value = { name, onto, commits: count, message, commit: newest?.sha };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
    value = null;
  }
  return {
    value,
    undo: () => ({ operation: operations.deleteBranch, input: { params: { ...params, branch: name } } }),
  };
};
