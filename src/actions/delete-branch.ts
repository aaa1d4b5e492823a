import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { requestOf } from '../facts/fact.ts';
import { headBranch, pullRequest } from '../facts/pull-request.ts';
import { condition, defineAction } from './action.ts';
import { deletionOf, undoDeleteBranch } from './merging/deletion.ts';

const DeleteBranch = z.strictObject({
  when: condition().optional().meta({ description: 'It is deleted only while this condition holds.' }),
});
type DeleteBranch = z.output<typeof DeleteBranch>;

const pullFact = requestOf(pullRequest);
const headFact = requestOf(headBranch);

/** Deletes the head branch of a merged pull request. */
export const deleteBranch = defineAction<DeleteBranch>({
  name: 'delete-branch',
  meaning:
    'Deletes the head branch of the merged pull request, if its tip is the commit that was merged. A default or protected branch, a branch of a fork, and a branch that another open pull request uses are never deleted. It goes last in a run; its conditions are evaluated again immediately before.',
  example: `uses: delete-branch
with:
  when: '!pull_request.head.ref.startsWith("keep/")'
`,
  arguments: DeleteBranch,
  of: ['pull_request'],
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: true,
  granted: false,
  visibleTo: 'pulls',
  inverses: { [operations.deleteBranch.id]: undoDeleteBranch },
  adoption: undefined,
  facts: (given) => (given.when === false ? [] : [pullFact]),
  async plan(given, facts) {
    if (given.when === false) return [];
    const pull = await facts.ask(pullFact);
    if (!pull.merged) return [];
    const deletion = deletionOf(pull, await facts.ask(headFact), facts, { action: 'delete-branch' });
    return deletion ? [deletion] : [];
  },
});
