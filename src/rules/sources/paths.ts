import type { Level } from '../rule.ts';

/** Possible paths of a repository's rule file. Only one of them may exist. */
export const repositoryPaths = ['.reeve.yml', '.forgejo/reeve.yml', '.gitea/reeve.yml'] as const;

/** A common wrong name of the file, which is not read: a repository with only this file gets a report. */
export const misspeltPath = '.reeve.yaml';

/** Returns the level of a file by its name: a repository's file has the permissions of repositories. */
export function levelOfFile(path: string): Level {
  const name = path.replaceAll('\\', '/');
  return repositoryPaths.some((known) => name === known || name.endsWith(`/${known}`))
    ? 'repository'
    : 'operator';
}
