import type { Level } from '../rules/rule.ts';

/** Where a repository may keep its rules. Exactly one of them may be there. */
export const repositoryPaths = ['.reeve.yml', '.forgejo/reeve.yml', '.gitea/reeve.yml'] as const;

/** A name that people give the file, and that is not read: a repository that has nothing else is told so. */
export const misspeltPath = '.reeve.yaml';

/** Returns the powers that a file has by its name alone: a repository's file is held to what repositories may do. */
export function levelOf(path: string): Level {
  const name = path.replaceAll('\\', '/');
  return repositoryPaths.some((known) => name === known || name.endsWith(`/${known}`))
    ? 'repository'
    : 'operator';
}
