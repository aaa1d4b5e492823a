import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Repository } from '../contract/resources/repositories.ts';
import { int, list, text } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { ways } from './ways.ts';
import { narrowRepository, repositoryOf, repositoryParams } from './where.ts';

export const repository = defineFact({
  name: 'repository',
  meaning:
    'The current state of the repository. Of the parent of a fork, rules see what it is called and of what kind it is.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: Repository,
  of: ['repository', 'pull_request', 'issue', 'branch', 'milestone', 'notification', 'runner'],
  changes: [ways.configured],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '!repository.archived && repository.default_branch == "main"',
  ask: ({ client, subject }) => client.call(operations.getRepository, { params: repositoryParams(subject) }),
  narrow: (value) => narrowRepository(value),
  narrowsForAll: true,
});

/** The repository that currently has the subject's owner and name. Cached for a few minutes. */
export const repositoryId = defineFact({
  name: 'repository_id',
  meaning: 'The id of the repository under the owner and name in the event. Cached for a few minutes.',
  shows: 'repository',
  visibleTo: 'administrators',
  shape: z.object({ id: int }),
  of: ['repository', 'pull_request', 'issue', 'branch', 'milestone', 'notification', 'runner'],
  changes: [],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'repository_id.id == event.repository.id',
  async ask({ subject, memory, anew, ask }) {
    const { id, owner, name } = repositoryOf(subject);
    const key = `${id}/repository_id/${owner}/${name}`.toLowerCase();
    const remembered = anew ? undefined : memory.get(key);
    // The cast is safe: only the code below sets this key.
    if (remembered !== undefined) return remembered as { id: number };
    // Costs no request if a condition has already read the whole repository.
    const found = await ask(requestOf(repository));
    const answer = { id: found.id };
    memory.set(key, answer);
    return answer;
  },
});

/** Number of topics per request; a repository has at most 25. */
const perPage = 50;

/** The topics of the repository. */
export const topics = defineFact({
  name: 'topics',
  meaning: 'The topics of the repository, by name.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: list(text),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.configured],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '"archived" in topics',
  async ask({ client, subject }) {
    const query = { page: 1, limit: perPage };
    const answer = await client.call(operations.listTopics, { params: repositoryParams(subject), query });
    return [...(answer.topics ?? [])];
  },
});
