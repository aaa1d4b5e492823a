import { operations } from '../contract/operations.ts';
import { int } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { indexParams, repositoryParams } from './where.ts';

/** Pull requests that are looked at; an account with more is no newcomer in any rule. */
const maxPulls = 10_000;

/** How many pull requests of the author were merged before. */
export const contributions = defineFact({
  name: 'contributions',
  meaning:
    'The number of merged pull requests of the author in this repository that were opened before this one; 0 means that this is the first contribution. What Reeve’s own account opens is none: it counts as 1 at least. A pull request of a deleted account has no author: the condition is then `error`.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: int,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository', 'user'] },
  requests: 3,
  example: 'contributions == 0',
  async ask({ client, subject, memory, ask }) {
    const { user } = await ask(requestOf(pullRequest));
    if (!user || user.id <= 0)
      throw new ReeveError('forge-not-found', 'the pull request has no author any more');
    const { index } = indexParams(subject);
    const query = { state: 'closed', poster: user.login };
    let merged = 0;
    let seen = 0;
    for await (const pull of client.items(operations.listPulls, {
      params: repositoryParams(subject),
      query,
    })) {
      seen += 1;
      if (seen > maxPulls)
        throw new Error(`too large to judge: ${user.login} has more than ${maxPulls} pull requests`);
      // The name may have belonged to another account before.
      if (pull.merged && pull.number < index && pull.user?.id === user.id) merged += 1;
    }
    // A release or a backport that Reeve opens must not be welcomed.
    return merged === 0 && user.id === (await ownId({ client, memory })) ? 1 : merged;
  },
});

const ownKey = 'self/id';

async function ownId({ client, memory }: Pick<AskContext, 'client' | 'memory'>): Promise<number> {
  const known = memory.get(ownKey) as number | undefined;
  const id = known ?? (await client.call(operations.getSelf, {})).id;
  memory.set(ownKey, id);
  return id;
}
