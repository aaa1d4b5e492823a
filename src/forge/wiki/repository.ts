import type { ForgeContext } from '../core/context.ts';
import type { RepositoryRow } from '../core/rows.ts';

/** The branch that a wiki's pages are on, whatever the repository's default branch is called. */
export const wikiBranch = 'main';

/** Returns the id of the git repository of a wiki: the store keeps it beside its repository's, under the negative id. */
export function wikiIdOf(repository: Pick<RepositoryRow, 'id'>): number {
  return -repository.id;
}

/** Returns whether a wiki was ever written. */
export function hasWiki(context: Pick<ForgeContext, 'git'>, repository: RepositoryRow): boolean {
  return context.git.exists(wikiIdOf(repository));
}

/** Makes the git repository of a wiki where there is none yet. */
export async function ensureWiki(
  context: Pick<ForgeContext, 'git'>,
  repository: RepositoryRow,
): Promise<void> {
  if (hasWiki(context, repository)) return;
  const options = { defaultBranch: wikiBranch, objectFormat: repository.object_format };
  // Alone, so that two first writes do not both make it.
  await context.git.exclusively(wikiIdOf(repository), 'pulls', async () => {
    if (!hasWiki(context, repository)) await context.git.create(wikiIdOf(repository), options);
  });
}
