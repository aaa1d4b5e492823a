import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { messageOf, ReeveError } from '../errors.ts';
import { type LoadedFile, loadRuleFile } from '../rules/files/load.ts';
import { registry } from '../rules/registry.ts';
import { levelOfFile } from './paths.ts';

/** A rule file of a folder with its rules or problems. `text` is needed to show problems with their line. */
export type FolderFile = LoadedFile & { readonly path: string };

/**
 * Returns the paths of the rule files at these paths, including those in folders, sorted by name. Rule tests
 * (`*.test.yml`), hidden files and folders, and other types are skipped; a path that is a file is always included.
 */
export async function findRuleFiles(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const about = await stat(path).catch((cause: unknown) => {
      throw new ReeveError('usage', `${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (about.isDirectory()) found.push(...(await inFolder(path)));
    else found.push(path);
  }
  return found;
}

async function inFolder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !/\.test\.ya?ml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) =>
        !relative(folder, path)
          .split('/')
          .some((part) => part.startsWith('.') || part === 'node_modules'),
    )
    .toSorted();
}

/**
 * Loads every rule file at these paths; a repository's own file has the permissions of repositories. An invalid or
 * unreadable file has problems and no rules, and does not affect the others.
 */
export async function loadRuleFiles(paths: readonly string[]): Promise<readonly FolderFile[]> {
  const found = await findRuleFiles(paths);
  return Promise.all(
    found.map(async (path) => {
      const text = await readFile(path);
      return { path, ...loadRuleFile({ path, text, level: levelOfFile(path), commit: '', registry }) };
    }),
  );
}
