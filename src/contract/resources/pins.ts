import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs, pullsAs, repositoryAs } from '../row-fields.ts';
import { flag, inRepository, int, list, resource } from '../shape.ts';
import { PullRequest } from './pulls.ts';

const path = '/repos/{owner}/{repo}';

export const pinOperations = {
  movePin: defineOperation({
    id: 'issue.move-pin',
    meaning: 'Moves a pinned issue to a position, counted from 1; those between move by one.',
    method: 'PATCH',
    path: `${path}/issues/{index}/pin/{position}`,
    ...issuesAs('admin'),
    params: z.object({ ...inRepository, index: int, position: int }),
    success: 204,
    errors: [403, 404, 422],
    baseline: { 'position below 1': 500 },
    source: 'routers/api/v1/repo/issue_pin.go MoveIssuePin',
  }),
  listPinnedPulls: defineOperation({
    id: 'pull.list-pinned',
    meaning: 'Lists the pinned pull requests of a repository in their order.',
    method: 'GET',
    path: `${path}/pulls/pinned`,
    ...pullsAs('reader'),
    success: 200,
    response: list(PullRequest),
    errors: [404],
    source: 'routers/api/v1/repo/issue_pin.go ListPinnedPullRequests',
  }),
  getPinAllowance: defineOperation({
    id: 'issue.get-pin-allowance',
    meaning: 'Returns whether one more issue, and one more pull request, can be pinned.',
    method: 'GET',
    path: `${path}/new_pin_allowed`,
    ...repositoryAs('reader'),
    success: 200,
    response: resource({}, { issues: flag, pull_requests: flag }),
    errors: [404],
    source: 'routers/api/v1/repo/issue_pin.go AreNewIssuePinsAllowed',
  }),
} as const;
