/** Code points that HFS+ ignores in names of files. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Returns whether a file system takes a segment for `.git`, as `git fsck` does (hasDotgit). HFS+ ignores some code points;
 * NTFS ignores dots and spaces at the end and what follows a colon, and knows the folder as `git~1`; Windows takes a
 * backslash for a separator. A clone that wrote such a file would let the repository configure the git of its reader.
 */
export function isDotGit(segment: string): boolean {
  const isOnHfs = /^\.git$/i.test(segment.replace(ignoredByHfs, ''));
  return isOnHfs || segment.split('\\').some((part) => /^(\.git|git~1)[. ]*(:|$)/i.test(part));
}
