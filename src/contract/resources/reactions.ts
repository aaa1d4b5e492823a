import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { User } from './users.ts';

/** A reaction of one account. An account may have several reactions to one subject, but each `content` only once. */
export const Reaction = resource({ content: text }, { user: User, created_at: instant });
export type Reaction = z.output<typeof Reaction>;

const ReactionContent = z.strictObject({
  /** By default one of `+1`, `-1`, `laugh`, `hooray`, `confused`, `heart`, `rocket`, `eyes`. */
  content: text,
});
const atIndex = z.object({ ...inRepository, index: int });
const atComment = z.object({ ...inRepository, id: int });
const onIssue = '/repos/{owner}/{repo}/issues/{index}/reactions';
const onComment = '/repos/{owner}/{repo}/issues/comments/{id}/reactions';
const inFile = 'routers/api/v1/repo/issue_reaction.go';

/** Reactions to issues, pull requests and comments, including review comments. No webhook is sent. */
export const reactionOperations = {
  listIssueReactions: defineOperation({
    id: 'reaction.list-on-issue',
    meaning: 'Lists the reactions to an issue or pull request, oldest first.',
    method: 'GET',
    path: onIssue,
    ...issuesAs('reader'),
    params: atIndex,
    query: z.object(pages),
    success: 200,
    response: list(Reaction),
    errors: [404],
    paging: 'count',
    source: `${inFile} GetIssueReactions`,
  }),
  addIssueReaction: defineOperation({
    id: 'reaction.add-to-issue',
    meaning:
      "Adds the caller's reaction to an issue or pull request; 200 if it exists already, 403 for an unknown `content`.",
    method: 'POST',
    path: onIssue,
    ...issuesAs('reader'),
    params: atIndex,
    body: ReactionContent,
    mayBeMissing: ['content'],
    success: 201,
    response: Reaction,
    errors: [403, 404, 422],
    source: `${inFile} PostIssueReaction`,
  }),
  removeIssueReaction: defineOperation({
    id: 'reaction.remove-from-issue',
    meaning:
      "Removes the caller's reaction from an issue or pull request; success also if there is none. Gitea answers 204, Forgejo 200.",
    method: 'DELETE',
    path: onIssue,
    ...issuesAs('reader'),
    params: atIndex,
    body: ReactionContent,
    mayBeMissing: ['content'],
    success: 204,
    errors: [403, 404, 422],
    source: `${inFile} DeleteIssueReaction`,
  }),
  listCommentReactions: defineOperation({
    id: 'reaction.list-on-comment',
    meaning: 'Lists the reactions to a comment, oldest first, unpaged.',
    method: 'GET',
    path: onComment,
    ...issuesAs('reader'),
    params: atComment,
    success: 200,
    response: list(Reaction),
    errors: [404],
    source: `${inFile} GetIssueCommentReactions`,
  }),
  addCommentReaction: defineOperation({
    id: 'reaction.add-to-comment',
    meaning:
      "Adds the caller's reaction to a comment; 200 if it exists already, 403 for an unknown `content`.",
    method: 'POST',
    path: onComment,
    ...issuesAs('reader'),
    params: atComment,
    body: ReactionContent,
    mayBeMissing: ['content'],
    success: 201,
    response: Reaction,
    errors: [403, 404, 422],
    source: `${inFile} PostIssueCommentReaction`,
  }),
  removeCommentReaction: defineOperation({
    id: 'reaction.remove-from-comment',
    meaning:
      "Removes the caller's reaction from a comment; success also if there is none. Gitea answers 204, Forgejo 200.",
    method: 'DELETE',
    path: onComment,
    ...issuesAs('reader'),
    params: atComment,
    body: ReactionContent,
    mayBeMissing: ['content'],
    success: 204,
    errors: [403, 404, 422],
    source: `${inFile} DeleteIssueCommentReaction`,
  }),
} as const;
