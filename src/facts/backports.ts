import { createHash } from 'node:crypto';
import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { list } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { ways } from './ways.ts';
import { indexParams, narrowPull, repositoryParams } from './where.ts';

/** The backports of a merged pull request, in any state. */
export const backports = defineFact({
  name: 'backports',
  meaning:
    'The pull requests that the action `backport` opened for this merged pull request, open and closed ones, newest first; empty before the merge. They are recognised by the marker in their body, or by their branches; any account may have opened them: compare `user` where that matters. Only pull requests opened since the merge are read.',
  shows: 'repository',
  visibleTo: 'pulls',
  shape: list(PullRequest),
  of: ['pull_request'],
  changes: [ways.merged, ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'backports.exists(p, p.base.ref == "release/1" && p.merged)',
  async ask({ client, subject, ask }) {
    const { merged, merged_at } = await ask(requestOf(pullRequest));
    if (!merged) return [];
    const { index } = indexParams(subject);
    const sinceMs = Date.parse(merged_at ?? '');
    const found: PullRequest[] = [];
    const query = { state: 'all' };
    for await (const pull of client.items(operations.listPulls, {
      params: repositoryParams(subject),
      query,
    })) {
      // The list is sorted newest first: the remaining pull requests were opened before a backport was possible.
      if (Date.parse(pull.created_at ?? '') < sinceMs) break;
      const isMarked = (pull.body ?? '').startsWith(backportMarkerStart(index));
      if (isMarked || isFromBackportBranch(pull, index)) found.push(pull);
    }
    return found;
  },
  narrow: (found, subject) => found.map((pull) => narrowPull(pull, subject)),
  narrowsForAll: true,
});

/** Maximum number of characters of a branch name in requests to the forge. */
const maxBranchName = 100;

/** Returns the start of the first body line that all backports of a pull request share. */
function backportMarkerStart(number: number): string {
  return `<!-- reeve:backport of #${number} to `;
}

/**
 * Returns the first body line of the backport of a pull request to a branch. The branch name is percent-encoded, so
 * that it cannot end the line.
 */
export function backportMarker(number: number, target: string): string {
  return `${backportMarkerStart(number)}${encodeURIComponent(target.toWellFormed())} -->`;
}

/** Returns the branch name of the backport of a pull request to a branch; a digest replaces long names. */
export function backportBranch(number: number, target: string): string {
  const name = `backport-${number}-to-${target}`;
  if (name.length <= maxBranchName) return name;
  return `backport-${number}-to-${createHash('sha256').update(target).digest('hex').slice(0, 20)}`;
}

/** Returns whether a branch has the name of a backport. */
export function isBackportBranch(name: string): boolean {
  return /^backport-\d+-to-./.test(name);
}

/**
 * Returns whether a pull request goes from a backport branch to the target branch of the backport, both in this
 * repository. After the head branch is deleted, the forge changes the `ref`, but keeps the branch name in `label`.
 */
export function isFromBackportBranch({ head, base }: PullRequest, number: number): boolean {
  if (!base?.ref || head?.repo?.id === undefined || head.repo.id !== (base.repo?.id ?? base.repo_id)) {
    return false;
  }
  const branch = backportBranch(number, base.ref);
  return head.ref === branch || head.label === branch;
}
