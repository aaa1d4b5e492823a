import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Branch } from '../contract/resources/branches.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import type { Repository } from '../contract/resources/repositories.ts';
import { text } from '../contract/shape.ts';
import { ReeveError } from '../errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { isNothing } from './push-range.ts';
import { inRepository } from './where.ts';

/** The commit that has the statuses of the subject. */
export const head = defineFact({
  name: 'head',
  meaning:
    'The newest commit of the subject: the head of a pull request, the pushed commit, the tip of a branch, the tip of the default branch for a repository.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ sha: text }),
  of: ['pull_request', 'branch', 'repository'],
  requests: 1,
  example: 'head.sha != ""',
  async ask(context) {
    const sha = await headOf(context);
    if (!sha || isNothing(sha)) throw new ReeveError('forge-not-found', 'there is no commit here');
    return { sha };
  },
});

async function headOf({ client, subject, ask }: AskContext): Promise<string | null | undefined> {
  if (subject.kind === 'pull_request') {
    return ((await ask({ name: 'pull_request' })) as PullRequest).head?.sha;
  }
  if (subject.kind === 'branch') {
    return subject.range?.after ?? ((await ask({ name: 'branch' })) as Branch).commit?.id;
  }
  const { default_branch } = (await ask({ name: 'repository' })) as Repository;
  const params = { ...inRepository(subject), branch: default_branch ?? 'main' };
  return (await client.call(operations.getBranch, { params })).commit?.id;
}
