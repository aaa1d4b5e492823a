import { ReeveError } from '../../errors.ts';
import { markOfChange } from '../git/change-mark.ts';
import type { GitRepository } from '../git/repository.ts';

type CommitRange = { readonly from: string; readonly to: string };

/**
 * Tells whether two heads of a pull request change something else, each against its own merge base; a plain rebase does
 * not. What is too large to compare counts as another change: a review must not outlive a change that no one could look at.
 */
export async function isOtherChange(
  git: GitRepository,
  before: CommitRange,
  after: CommitRange,
): Promise<boolean> {
  try {
    const [one, other] = [
      await markOfChange(git, before.from, before.to),
      await markOfChange(git, after.from, after.to),
    ];
    return one !== other;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'git-failed') return true;
    throw error;
  }
}
