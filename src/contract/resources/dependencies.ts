import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs } from '../row-fields.ts';
import { inRepository, int, list, pages, text } from '../shape.ts';
import { Issue } from './issues.ts';

/** Refers to an issue or pull request of any repository. */
const IssueMeta = z.strictObject({ index: int, owner: text, repo: text });

/** A blocking issue. An issue that the caller cannot read may have no state. */
const Blocker = Issue.extend({ state: z.enum(['open', 'closed', '']) });

const atIndex = z.object({ ...inRepository, index: int });

/** Dependencies: issues that must close before others. */
export const dependencyOperations = {
  listDependencies: defineOperation({
    id: 'issue.list-dependencies',
    meaning:
      'Lists the issues that must close before this one, those of its own repository first. An unreadable one is a stub with `id` 0: without title and state for writers, open and with the title `HIDDEN` for others.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/dependencies',
    ...issuesAs('reader'),
    params: atIndex,
    query: z.object(pages),
    success: 200,
    response: list(Blocker),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/issue_dependency.go GetIssueDependencies',
  }),
  addDependency: defineOperation({
    id: 'issue.add-dependency',
    meaning:
      'Makes the issue of the body block the one of the path, and returns the latter; 404 for callers without write access. Only the direct reverse counts as a cycle. If dependencies across repositories are disabled: 400 and a bare JSON text.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/dependencies',
    ...issuesAs('reader'),
    params: atIndex,
    body: IssueMeta,
    mayBeMissing: ['index', 'owner', 'repo'],
    success: 201,
    response: Issue,
    errors: [400, 404, 409, 423],
    archived: 'after-role',
    baseline: { 'exists already': 500, cycle: 500 },
    source: 'routers/api/v1/repo/issue_dependency.go CreateIssueDependency',
  }),
  removeDependency: defineOperation({
    id: 'issue.remove-dependency',
    meaning: 'Removes a dependency; 201 and the issue of the path. 404 for callers without write access.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/dependencies',
    ...issuesAs('reader'),
    params: atIndex,
    body: IssueMeta,
    mayBeMissing: ['index', 'owner', 'repo'],
    success: 201,
    response: Issue,
    errors: [400, 404, 423],
    archived: 'after-role',
    baseline: { 'no such dependency': 500 },
    source: 'routers/api/v1/repo/issue_dependency.go RemoveIssueDependency',
  }),
  listBlocks: defineOperation({
    id: 'issue.list-blocks',
    meaning: 'Lists the issues that this one blocks; unreadable ones are removed after paging.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/blocks',
    ...issuesAs('reader'),
    params: atIndex,
    query: z.object(pages),
    success: 200,
    response: list(Issue),
    errors: [404],
    source: 'routers/api/v1/repo/issue_dependency.go GetIssueBlocks',
  }),
  addBlock: defineOperation({
    id: 'issue.add-block',
    meaning: 'Makes the issue of the path block the one of the body, and returns the former.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/blocks',
    ...issuesAs('reader'),
    params: atIndex,
    body: IssueMeta,
    mayBeMissing: ['index', 'owner', 'repo'],
    success: 201,
    response: Issue,
    errors: [400, 404, 409],
    baseline: { 'exists already': 500, cycle: 500 },
    source: 'routers/api/v1/repo/issue_dependency.go CreateIssueBlocking',
  }),
  removeBlock: defineOperation({
    id: 'issue.remove-block',
    meaning:
      'Removes the block of the issue in the body by the one of the path; 201 and the issue of the path.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/blocks',
    ...issuesAs('reader'),
    params: atIndex,
    body: IssueMeta,
    mayBeMissing: ['index', 'owner', 'repo'],
    success: 201,
    response: Issue,
    errors: [400, 404],
    baseline: { 'no such dependency': 500 },
    source: 'routers/api/v1/repo/issue_dependency.go RemoveIssueBlocking',
  }),
} as const;
