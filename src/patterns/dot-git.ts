/** Code points that HFS+ ignores in file names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Returns whether a file system treats a path segment as `.git`, like `git fsck` (hasDotgit). HFS+ ignores some code
 * points; NTFS ignores trailing dots and spaces and everything after a colon, and its short name for the folder is
 * `git~1`; Windows treats a backslash as a separator. If a clone wrote such a file, the repository could configure the
 * git of the user who cloned it.
 */
export function isDotGit(segment: string): boolean {
  const isOnHfs = /^\.git$/i.test(segment.replace(ignoredByHfs, ''));
  return isOnHfs || segment.split('\\').some((part) => /^(\.git|git~1)[. ]*(:|$)/i.test(part));
}
