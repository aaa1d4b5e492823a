import type { CommitData } from './commit.ts';
import { cleanTreePath, isIdPrefix, isRefName } from './names.ts';
import { readCommit, resolveRef } from './refs.ts';
import type { GitRepository } from './repository.ts';

/** Returns whether a text is a revision that may be passed to git: a name or an id, ancestors of it (`main~2`), a path in it. */
export function isRevision(text: string): boolean {
  const colon = text.indexOf(':');
  const [commit, path] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  if (cleanTreePath(path) === undefined) return false;
  const name = commit.replace(/([~^]\d{0,6}){0,20}$/, '');
  return name === 'HEAD' || isRefName(name) || isIdPrefix(name);
}

/** Returns a commit by its id, then by a branch or tag, then by any other revision; a branch may have the name of an id. */
export async function findRevision(repository: GitRepository, text: string): Promise<CommitData | undefined> {
  const byId = isIdPrefix(text) ? await readCommit(repository, `${text}^{commit}`) : undefined;
  const known = byId ?? (isRefName(text) ? (await resolveRef(repository, text))?.commit : undefined);
  if (known !== undefined || !isRevision(text)) return known;
  return await readCommit(repository, `${text}^{commit}`);
}
