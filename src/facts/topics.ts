import { operations } from '../contract/operations.ts';
import { list, text } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** Topics per request; a repository has at most 25. */
const perPage = 50;

/** The topics of the repository. */
export const topics = defineFact({
  name: 'topics',
  meaning: 'The topics of the repository, by name.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: list(text),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '"archived" in topics',
  async ask({ client, subject }) {
    const query = { page: 1, limit: perPage };
    const answer = await client.call(operations.listTopics, { params: repositoryParams(subject), query });
    return [...(answer.topics ?? [])];
  },
});
