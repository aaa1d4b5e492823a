import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs, repositoryAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Attachment } from './issues.ts';
import { User } from './users.ts';

export const Comment = resource(
  { id: int },
  {
    body: text,
    user: User,
    original_author: text,
    original_author_id: int,
    html_url: text,
    issue_url: text,
    pull_request_url: text,
    assets: z.array(Attachment),
    created_at: instant,
    updated_at: instant,
  },
);
export type Comment = z.output<typeof Comment>;

const atIndex = z.object({ ...inRepository, index: int });
const atComment = z.object({ ...inRepository, id: int });

export const commentOperations = {
  listComments: defineOperation({
    id: 'comment.list',
    meaning: 'Lists the comments of an issue or pull request, oldest first, unpaged.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/comments',
    ...issuesAs('reader'),
    params: atIndex,
    query: z.object({ since: instant.optional(), before: instant.optional() }),
    success: 200,
    response: list(Comment),
    errors: [404, 422],
    baseline: { 'unknown issue': 500 },
    source: 'routers/api/v1/repo/issue_comment.go ListIssueComments',
  }),
  listRepositoryComments: defineOperation({
    id: 'comment.list-of-repository',
    meaning:
      'Lists the comments on all issues and pull requests of a repository, oldest first; of those the caller can read.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments',
    ...repositoryAs('reader'),
    scopes: ['issue'],
    query: z.object({ ...pages, since: instant.optional(), before: instant.optional() }),
    success: 200,
    response: list(Comment),
    errors: [404, 422],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_comment.go ListRepoIssueComments',
  }),
  editIssueComment: defineOperation({
    id: 'comment.edit-of-issue',
    meaning: 'Updates the text of a comment; deprecated, the number of the issue is not looked at.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{index}/comments/{id}',
    ...issuesAs('author'),
    params: z.object({ ...inRepository, index: int, id: int }),
    body: z.strictObject({ body: text }),
    success: 200,
    response: Comment,
    errors: [403, 404, 422],
    source: 'routers/api/v1/repo/issue_comment.go EditIssueCommentDeprecated',
  }),
  deleteIssueComment: defineOperation({
    id: 'comment.delete-of-issue',
    meaning: 'Deletes a comment; deprecated, the number of the issue is not looked at.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/comments/{id}',
    ...issuesAs('author'),
    params: z.object({ ...inRepository, index: int, id: int }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/issue_comment.go DeleteIssueCommentDeprecated',
  }),
  createComment: defineOperation({
    id: 'comment.create',
    meaning: 'Creates a comment.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/comments',
    ...issuesAs('reader'),
    params: atIndex,
    body: z.strictObject({ body: text }),
    success: 201,
    response: Comment,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    baseline: { 'unknown issue': 500 },
    source: 'routers/api/v1/repo/issue_comment.go CreateIssueComment',
  }),
  getComment: defineOperation({
    id: 'comment.get',
    meaning: 'Returns a comment.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}',
    ...issuesAs('reader'),
    params: atComment,
    success: 200,
    response: Comment,
    errors: [404],
    source: 'routers/api/v1/repo/issue_comment.go GetIssueComment',
  }),
  editComment: defineOperation({
    id: 'comment.edit',
    meaning: 'Updates the text of a comment.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/comments/{id}',
    ...issuesAs('author'),
    params: atComment,
    body: z.strictObject({ body: text }),
    success: 200,
    response: Comment,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/issue_comment.go EditIssueComment',
  }),
  deleteComment: defineOperation({
    id: 'comment.delete',
    meaning: 'Deletes a comment.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{id}',
    ...issuesAs('author'),
    params: atComment,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/issue_comment.go DeleteIssueComment',
  }),
} as const;
