import { operations } from '../contract/operations.ts';
import type { Compare } from '../contract/resources/branches.ts';
import { ReeveError } from '../errors.ts';
import type { AskContext } from './fact.ts';
import { inRepository } from './where.ts';

/**
 * Compares the two commits that a push moved its ref between, since the payload's own lists are cut after a few commits.
 * Returns undefined where the push removed the ref.
 */
export async function comparePush({ client, subject, ask }: AskContext): Promise<Compare | undefined> {
  if (subject.range === undefined) {
    throw new ReeveError('forge-not-found', 'only a push has files and commits: this event names none');
  }
  const { before, after } = subject.range;
  if (isNothing(after)) return undefined;
  // A new branch has no commit before: what it brings is what differs from the default branch.
  const base = isNothing(before) ? await defaultBranch(ask) : before;
  return client.call(operations.compare, {
    params: { ...inRepository(subject), basehead: `${base}...${after}` },
  });
}

/** Returns the name of the default branch. */
export async function defaultBranch(ask: AskContext['ask']): Promise<string> {
  const repository = (await ask({ name: 'repository' })) as { default_branch?: string | null };
  return repository.default_branch ?? 'main';
}

/** Returns whether an id of a commit stands for none: zeros alone. */
export function isNothing(commit: string): boolean {
  return /^0+$/.test(commit);
}
