import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { RefChange } from '../git/refs.ts';
import { findByBranches } from '../pulls/list.ts';
import { findPullBase } from '../pulls/pull-base.ts';

/** Returns what a person reads after a push of branches: where each could become a pull request, or is one. */
export function pullInvitations(
  context: ForgeContext,
  { repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>,
  changes: readonly RefChange[],
): string {
  const base = findPullBase(context, { repository, owner });
  if (!base) return '';
  const invitations = changes.map(({ ref, after }) => {
    const name = ref.slice('refs/heads/'.length);
    const isOwnDefault = repository.fork_id === null && name === base.repository.default_branch;
    if (after === undefined || !ref.startsWith('refs/heads/') || isOwnDefault) return '';
    const number = findByBranches(
      context,
      {
        baseId: base.repository.id,
        base: base.repository.default_branch,
        headId: repository.id,
        head: name,
      },
      { openOnly: true },
    );
    const head = `${context.rootUrl()}/${owner.name}/${repository.name}`;
    return number === undefined
      ? `\nCreate a new pull request for '${name}':\n  ${head}/pulls/new/${name.split('/').map(encodeURIComponent).join('/')}\n\n`
      : existingPull(`${context.rootUrl()}/${base.owner.name}/${base.repository.name}/pulls/${number}`);
  });
  return invitations.join('');
}

/** Returns what a person reads after a push to a pull request. */
export function existingPull(address: string): string {
  return `\nVisit the existing pull request:\n  ${address}\n\n`;
}
