import { operations } from '../contract/operations.ts';
import type { Compare } from '../contract/resources/branches.ts';
import { ReeveError } from '../errors.ts';
import type { AskContext } from './fact.ts';
import { requestOf } from './fact.ts';
import { repository as repositoryRow } from './repository.ts';
import { repositoryParams } from './where.ts';

/**
 * Compares the commits of a ref before and after a push, because the payload's own lists are truncated after a few commits.
 * Returns undefined if the push deleted the ref.
 */
export async function comparePush({ client, subject, ask }: AskContext): Promise<Compare | undefined> {
  if (subject.range === undefined) {
    throw new ReeveError('forge-not-found', 'only a push has files and commits: this event names none');
  }
  const { before, after } = subject.range;
  if (isZeroCommit(after)) return undefined;
  // A new branch has no earlier commit: it is compared with the default branch.
  const base = isZeroCommit(before) ? await defaultBranch(ask) : before;
  return client.call(operations.compare, {
    params: { ...repositoryParams(subject), basehead: `${base}...${after}` },
  });
}

/** Returns the name of the default branch. */
export async function defaultBranch(ask: AskContext['ask']): Promise<string> {
  const repository = await ask(requestOf(repositoryRow));
  return repository.default_branch ?? 'main';
}

/** Returns whether a commit id consists of zeros, which means no commit. */
export function isZeroCommit(commit: string): boolean {
  return /^0+$/.test(commit);
}
