import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';
import { Issue } from './issues.ts';

/** A topic of repositories, by name. */
export const TopicSummary = resource(
  { id: int, topic_name: text },
  {
    /** All repositories with it, also those that the caller cannot read. */
    repo_count: int,
    created: instant,
    updated: instant,
  },
);
export type TopicSummary = z.output<typeof TopicSummary>;

/** Searches over all repositories. */
export const searchOperations = {
  searchIssues: defineOperation({
    id: 'issue.search',
    meaning:
      'Searches issues and pull requests of all repositories that the caller can read, newest first. `labels` and `milestones` match any of the names; unknown names are dropped. 400 for an unknown `owner` or `team`, 404 for an unknown `created_by`.',
    method: 'GET',
    path: '/repos/issues/search',
    ...callerAs('anyone'),
    scopes: ['issue'],
    query: z.object({
      ...pages,
      state: text.optional(),
      type: text.optional(),
      q: text.optional(),
      /** Names, separated by commas. */
      labels: text.optional(),
      /** Titles, separated by commas. */
      milestones: text.optional(),
      since: instant.optional(),
      before: instant.optional(),
      owner: text.optional(),
      /** Name of a team of `owner`. */
      team: text.optional(),
      created_by: text.optional(),
      /** The following five are about the caller, and ignored for anonymous callers. */
      created: flag.optional(),
      assigned: flag.optional(),
      mentioned: flag.optional(),
      review_requested: flag.optional(),
      reviewed: flag.optional(),
    }),
    success: 200,
    response: list(Issue),
    errors: [400, 404, 422],
    paging: 'link',
    source: 'routers/api/v1/repo/issue.go SearchIssues',
  }),
  searchTopics: defineOperation({
    id: 'topic.search',
    meaning: 'Searches topics by a part of their name, those of most repositories first.',
    method: 'GET',
    path: '/topics/search',
    ...callerAs('anyone'),
    scopes: ['repository'],
    query: z.object({ ...pages, q: text.optional() }),
    success: 200,
    response: resource({}, { topics: z.array(TopicSummary) }),
    errors: [],
    paging: 'count',
    source: 'routers/api/v1/repo/topic.go TopicSearch',
  }),
} as const;
