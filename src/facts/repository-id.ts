import { z } from 'zod';
import { int } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { repository as repositoryRow } from './repository.ts';
import { repositoryOf } from './where.ts';

/** The repository under the subject's owner and name. Cached for a few minutes. */
export const repositoryId = defineFact({
  name: 'repository_id',
  meaning: 'The id of the repository under the owner and name in the event. Cached for a few minutes.',
  shows: 'repository',
  visibleTo: 'administrators',
  shape: z.object({ id: int }),
  of: ['repository', 'pull_request', 'issue', 'branch', 'milestone', 'notification', 'runner'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'repository_id.id == event.repository.id',
  async ask({ subject, memory, anew, ask }) {
    const { id, owner, name } = repositoryOf(subject);
    const key = `${id}/repository_id/${owner}/${name}`.toLowerCase();
    const remembered = anew ? undefined : memory.get(key);
    // What this key holds was set below.
    if (remembered !== undefined) return remembered as { id: number };
    // If a condition has read the whole repository, this costs no request.
    const found = await ask(requestOf(repositoryRow));
    const answer = { id: found.id };
    memory.set(key, answer);
    return answer;
  },
});
