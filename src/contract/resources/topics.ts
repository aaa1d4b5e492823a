import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, repositoryAs } from '../row-fields.ts';
import { inRepository, instant, int, pages, resource, text } from '../shape.ts';

/** A topic, by name. */
export const TopicSummary = resource(
  { id: int, topic_name: text },
  {
    /** Number of repositories with the topic, including those that the caller cannot read. */
    repo_count: int,
    created: instant,
    updated: instant,
  },
);
export type TopicSummary = z.output<typeof TopicSummary>;

const path = '/repos/{owner}/{repo}/topics';
const oneTopic = { params: z.object({ ...inRepository, topic: text }), success: 204 } as const;
const inFile = 'routers/api/v1/repo/topic.go';

/**
 * Topics of a repository: at most 25, in lower case, each with at most 35 letters, digits, `-` and `.`. No webhook is
 * sent.
 */
export const topicOperations = {
  listTopics: defineOperation({
    id: 'topic.list',
    meaning: 'Lists the topics of a repository, by name.',
    method: 'GET',
    path,
    ...repositoryAs('reader'),
    query: z.object(pages),
    success: 200,
    response: resource({}, { topics: z.array(text) }),
    errors: [404],
    paging: 'count',
    source: `${inFile} ListTopics`,
  }),
  replaceTopics: defineOperation({
    id: 'topic.replace',
    meaning: 'Replaces the topics of a repository; duplicate and empty names are dropped.',
    method: 'PUT',
    path,
    ...repositoryAs('admin'),
    body: z.strictObject({ topics: z.array(text).optional() }),
    success: 204,
    errors: [403, 404, 422],
    source: `${inFile} UpdateTopics`,
  }),
  addTopic: defineOperation({
    id: 'topic.add',
    meaning: 'Adds a topic to a repository; success also if it has the topic.',
    method: 'PUT',
    path: `${path}/{topic}`,
    ...repositoryAs('admin'),
    roleFirst: true,
    ...oneTopic,
    errors: [403, 404, 422],
    source: `${inFile} AddTopic`,
  }),
  removeTopic: defineOperation({
    id: 'topic.remove',
    meaning: 'Removes a topic from a repository.',
    method: 'DELETE',
    path: `${path}/{topic}`,
    ...repositoryAs('admin'),
    roleFirst: true,
    ...oneTopic,
    errors: [403, 404, 422],
    source: `${inFile} DeleteTopic`,
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
