import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { flag, int, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { repository as repositoryRow } from './repository.ts';
import { repositoryOf, repositoryParams } from './where.ts';

/** The branch of this repository that the pull request comes from. */
export const headBranch = defineFact({
  name: 'head_branch',
  meaning:
    'The branch of this repository that the pull request comes from, and the numbers of other open pull requests from or into it (`used_by`); null if it is gone, or in a fork.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z
    .object({ name: text, sha: text, protected: flag, is_default: flag, used_by: z.array(int) })
    .nullable(),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 4,
  example: 'head_branch != null && !head_branch.protected && head_branch.used_by.size() == 0',
  async ask(context) {
    const { subject, ask } = context;
    const { head, number } = await ask(requestOf(pullRequest));
    const name = head?.ref;
    if (!name || head?.repo?.id !== repositoryOf(subject).id) return null;
    const branch = await branchNamed(context, name);
    if (branch === null) return null;
    const { default_branch } = await ask(requestOf(repositoryRow));
    return {
      name,
      sha: branch.commit?.id ?? '',
      protected: branch.protected ?? false,
      is_default: name === default_branch,
      used_by: await usersOf(context, name, number),
    };
  },
});

async function branchNamed({ client, subject }: AskContext, branch: string) {
  try {
    return await client.call(operations.getBranch, { params: { ...repositoryParams(subject), branch } });
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
    throw error;
  }
}

/** Returns the numbers of the open pull requests, other than this one, from or into a branch of the repository. */
async function usersOf({ client, subject }: AskContext, name: string, own: number): Promise<number[]> {
  const { id } = repositoryOf(subject);
  const found: number[] = [];
  const params = repositoryParams(subject);
  for await (const pull of client.items(operations.listPulls, { params, query: { state: 'open' } })) {
    const isUser = (pull.head?.ref === name && pull.head.repo?.id === id) || pull.base?.ref === name;
    if (isUser && pull.number !== own) found.push(pull.number);
  }
  return found;
}
