import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { headBranch, pullRequest } from '../facts/pull-request.ts';
import { ways } from '../facts/ways.ts';
import { repositoryParams } from '../facts/where.ts';
import { ReeveError } from '../platform/errors.ts';
import { condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams } from './inverses.ts';
import { sidesOf, waiting } from './merging.ts';

type HeadBranchState = {
  readonly name: string;
  readonly sha: string;
  readonly protected: boolean;
  readonly is_default: boolean;
  /** Absent only in a what-if, in which the head of the pull request takes its place. */
  readonly closed_sha?: string | null | undefined;
  readonly used_by: readonly number[];
} | null;

/** Grant that the deletion of unmerged branches needs besides that of the action. */
const grantOfClosed = 'delete-closed-branch';

/**
 * Returns the deletion of the head branch of a merged or closed pull request, or undefined if there is no such branch.
 * Never deletes a branch whose tip is not the commit at which the pull request ended, a default or protected branch, or
 * a branch that another open pull request uses. `follows`: the merge planned in the same run, which the deletion must
 * wait for.
 */
export function deletionOf(
  pull: PullRequest,
  branch: HeadBranchState,
  facts: Facts,
  { action, follows }: { readonly action: string; readonly follows?: Change },
): Change | undefined {
  const { base, isFork } = sidesOf(pull);
  const isEnded = pull.merged || pull.state === 'closed' || follows !== undefined;
  if (branch === null || isFork || !isEnded) return undefined;
  const isUnmerged = !pull.merged && follows === undefined;
  const { name, sha } = branch;
  const change = {
    action,
    operation: operations.deleteBranch.id,
    input: { params: { ...repositoryParams(facts.subject), branch: name } },
    target: `branch:${name}`,
    value: 'deleted',
    before: { name, commit: sha },
    after: null,
    branch: base,
    causes: { event: 'deleted', branch: name },
    stage: 3,
    reconsiders: true,
    reads: [requestOf(pullRequest), requestOf(headBranch)],
    ...(action === 'delete-branch' ? {} : { alsoNeeds: 'delete-branch' }),
    ...(isUnmerged && { alsoNeeds: grantOfClosed }),
    ...(follows === undefined || follows.already ? {} : { needs: follows.target }),
  } as const;
  const why = reasonToKeep(branch, pull);
  if (why !== undefined) return waiting(change, why);
  return { ...change, reason: `the pull request is ${isUnmerged ? 'closed' : 'merged'}` };
}

function reasonToKeep(branch: NonNullable<HeadBranchState>, pull: PullRequest): string | undefined {
  if (branch.is_default) return `${branch.name} is the default branch`;
  if (branch.protected) return `${branch.name} is protected`;
  // Of a closed pull request, Gitea and Forgejo show the tip of the branch as its head, whatever was pushed since.
  const { head } = sidesOf(pull);
  const end = pull.state === 'closed' && branch.closed_sha !== undefined ? branch.closed_sha : head;
  if (end === null) return `the forge does not show at which commit pull request #${pull.number} ended`;
  if (branch.sha !== end)
    return pull.state === 'closed' && !pull.merged
      ? `${branch.name} has moved since the pull request was closed`
      : `${branch.name} has commits that were not merged`;
  const [user] = branch.used_by;
  return user === undefined ? undefined : `${branch.name} is used by the open pull request #${user}`;
}

/** Recreates a deleted branch at its former commit, unless a branch with the same name exists. */
export const undoDeleteBranch: Inverse = async (change, client) => {
  const { branch, ...where } = pathParams(change) as { readonly branch: string };
  const before = change.before as { readonly commit: string };
  try {
    await client.send(operations.getBranch, { params: { ...where, branch } });
    return { value: change.before, undo: () => 'there is a branch of this name again' };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
  }
  return {
    value: null,
    undo: () => ({
      operation: operations.createBranch,
      input: { params: where, body: { new_branch_name: branch, old_ref_name: before.commit } },
    }),
  };
};

const DeleteBranch = z.strictObject({
  closed: z
    .literal(true)
    .optional()
    .meta({
      description: `Also deletes the branch of a pull request that was closed without a merge. Its commits are then only in the pull request. Rule files of repositories and organizations also need the grant \`${grantOfClosed}\`.`,
    }),
  when: condition().optional().meta({ description: 'It is deleted only while this condition holds.' }),
});
type DeleteBranch = z.output<typeof DeleteBranch>;

const pullFact = requestOf(pullRequest);
const headFact = requestOf(headBranch);

/** Deletes the head branch of a merged pull request and, with `closed`, of a closed one. */
export const deleteBranch = defineAction<DeleteBranch>({
  name: 'delete-branch',
  meaning:
    'Deletes the head branch of the merged pull request (with `closed`, also of one that was closed without a merge), if its tip is the commit at which it ended: `refs/pull/NUMBER/head`. A default or protected branch, a branch of a fork, and a branch that another open pull request uses are never deleted. It goes last in a run; its conditions are evaluated again immediately before.',
  example: `uses: delete-branch
with:
  when: '!pull_request.head.ref.startsWith("keep/")'
`,
  arguments: DeleteBranch,
  of: ['pull_request'],
  ways: { writes: [], after: [ways.closed, ways.merged] },
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: true,
  granted: false,
  ownGrants: { closed: grantOfClosed },
  visibleTo: 'pulls',
  inverses: { [operations.deleteBranch.id]: undoDeleteBranch },
  adoption: undefined,
  facts: (given) => (given.when === false ? [] : [pullFact]),
  async plan(given, facts) {
    if (given.when === false) return [];
    const pull = await facts.ask(pullFact);
    if (!pull.merged && !(given.closed && pull.state === 'closed')) return [];
    const deletion = deletionOf(pull, await facts.ask(headFact), facts, { action: 'delete-branch' });
    return deletion ? [deletion] : [];
  },
});
