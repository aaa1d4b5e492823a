import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { list } from '../contract/shape.ts';
import { backportMarkerStart, isFromBackportBranch } from './backport-names.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
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
      // The list has the newest first: what follows was opened before there was anything to backport.
      if (Date.parse(pull.created_at ?? '') < sinceMs) break;
      const isMarked = (pull.body ?? '').startsWith(backportMarkerStart(index));
      if (isMarked || isFromBackportBranch(pull, index)) found.push(pull);
    }
    return found;
  },
  narrow: (found, subject) => found.map((pull) => narrowPull(pull, subject)),
  narrowsForAll: true,
});
