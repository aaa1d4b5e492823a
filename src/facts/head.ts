import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { branch as branchRow } from './branches.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { isZeroCommit } from './files.ts';
import { pullRequest } from './pull-request.ts';
import { repository as repositoryRow } from './repository.ts';
import { ways } from './ways.ts';
import { repositoryParams } from './where.ts';

/** The newest commit of the subject, the commit that the statuses belong to. */
export const head = defineFact({
  name: 'head',
  meaning:
    'The newest commit of the subject: the head of a pull request, the pushed commit, the tip of a branch, the tip of the default branch for a repository.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ sha: text }),
  of: ['pull_request', 'branch', 'repository'],
  changes: [ways.pushed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'head.sha != ""',
  async ask(context) {
    const sha = await headOf(context);
    if (!sha || isZeroCommit(sha)) throw new ReeveError('forge-not-found', 'the subject has no commit');
    return { sha };
  },
});

async function headOf({ client, subject, ask }: AskContext): Promise<string | null | undefined> {
  if (subject.kind === 'pull_request') {
    return (await ask(requestOf(pullRequest))).head?.sha;
  }
  if (subject.kind === 'branch') {
    return subject.range?.after ?? (await ask(requestOf(branchRow))).commit?.id;
  }
  const { default_branch } = await ask(requestOf(repositoryRow));
  const params = { ...repositoryParams(subject), branch: default_branch ?? 'main' };
  return (await client.call(operations.getBranch, { params })).commit?.id;
}
