import { ReeveError } from '../../platform/errors.ts';
import type { GitRepository } from '../git/repository.ts';

type HeadMove = {
  readonly before: string;
  readonly after: string;
  /** Of the base branch and the head; undefined where they have no common history. */
  readonly mergeBase: string | undefined;
};

/**
 * Returns whether reviews of one head of a pull request are stale at another one, as Gitea decides it: by the combined diff of
 * the new head against the old one and the merge base (`services/pull/pull.go`, checkIfPRContentChanged). A file counts where the
 * new head differs from both: what is taken back is therefore no change, and a file of the pull request that the base changed
 * is one. Without a common history nothing counts. What git cannot compare counts as a change.
 */
export async function isOtherChange(
  git: GitRepository,
  { before, after, mergeBase }: HeadMove,
): Promise<boolean> {
  if (mergeBase === undefined) return false;
  let isOther = false;
  try {
    await git.git.run(['diff', '--name-only', '-z', after, before, mergeBase, '--'], {
      folder: git.folder,
      // One name is enough.
      onOutput(piece) {
        isOther ||= piece.length > 0;
        return !isOther;
      },
    });
    return isOther;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'git-failed') return true;
    throw error;
  }
}
