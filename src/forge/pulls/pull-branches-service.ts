import { findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { readDiff } from '../platform/git/changes.ts';
import { takeRef } from '../platform/git/merge.ts';
import type { CopyPermit, GitRepository } from '../platform/git/repository.ts';
import { checkPull } from './checks.ts';

/** Makes the base's commits available in the head's repository under a temporary ref. */
export async function borrowBase(
  head: GitRepository,
  base: GitRepository,
  { branch, permit }: { readonly branch: string; readonly permit: CopyPermit | undefined },
): Promise<void> {
  if (head.id === base.id || permit === undefined) return;
  const target = 'refs/reeve/update';
  await takeRef(head, base, { source: `refs/heads/${branch}`, target, permit });
}

/** Returns the changes of a pull request as text. Ends the request with 404 if no pull request has this number. */
export async function readPullDiff(
  context: ForgeContext,
  wanted: {
    readonly target: RepositoryTarget;
    readonly number: number;
    readonly kind: 'diff' | 'patch';
    readonly binary: boolean;
  },
) {
  const { target, number, kind, binary } = wanted;
  const { pull: before } = findPull(context, target, number);
  if (before.status === 'checking') await checkPull(context, before.id);
  const { pull } = findPull(context, target, number);
  const git = context.git.open(target.repository.id);
  return await readDiff(git, pull.merge_base, pull.head_sha, { kind, binary });
}
