import { createHash } from 'node:crypto';
import type { PullRequest } from '../contract/resources/pulls.ts';

/** Maximum length of a branch name in requests of the forge. */
const maxBranchName = 100;

/** Returns the beginning of the first line in the body of every backport of a pull request. */
export function backportMarkerStart(number: number): string {
  return `<!-- reeve:backport of #${number} to `;
}

/** Returns the first line in the body of the backport of a pull request to a branch. The name is percent-encoded, so that it cannot end the line. */
export function backportMarker(number: number, target: string): string {
  return `${backportMarkerStart(number)}${encodeURIComponent(target.toWellFormed())} -->`;
}

/** Returns the name of the branch with the backport of a pull request to a branch; a digest stands for a long name. */
export function backportBranch(number: number, target: string): string {
  const name = `backport-${number}-to-${target}`;
  if (name.length <= maxBranchName) return name;
  return `backport-${number}-to-${createHash('sha256').update(target).digest('hex').slice(0, 20)}`;
}

/** Returns whether a branch has the name of a backport. */
export function isBackportBranch(name: string): boolean {
  return /^backport-\d+-to-./.test(name);
}

/**
 * Returns whether a pull request goes from the branch of the backport into the branch that the backport is for, both in this
 * repository. The forge shows another `ref` for a head branch that is gone; its `label` keeps the name.
 */
export function isFromBackportBranch({ head, base }: PullRequest, number: number): boolean {
  if (!base?.ref || head?.repo?.id === undefined || head.repo.id !== (base.repo?.id ?? base.repo_id)) {
    return false;
  }
  const branch = backportBranch(number, base.ref);
  return head.ref === branch || head.label === branch;
}
