import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { type LoadedFile, loadRuleFile } from '../files/load.ts';
import { clashesOfFiles, type StatusClash } from '../files/status-rules.ts';
import { gatherPacks, type PackReader } from '../packs/gather-packs.ts';
import { problemAtLine } from '../problem.ts';
import { registry } from '../registry.ts';
import { createFolderReader, isPackPath } from './folder-packs.ts';
import { levelOfFile } from './paths.ts';

/** A rule file of a folder with its rules or problems. `text` is needed to show problems with their line. */
export type FolderFile = LoadedFile & { readonly path: string };

/** Which files of a folder are meant. */
export type FolderContents = {
  /** Whether packs are among them: files in folders called `packs`, which are no rules in force. */
  readonly withPacks?: boolean;
};

/**
 * Returns the paths of the rule files at these paths, including those in folders, sorted by name. Rule tests
 * (`*.test.yml`), packs, hidden files and folders, links that lead out of the folder, and other types are skipped; a path that is a
 * file is always included.
 */
export async function findRuleFiles(
  paths: readonly string[],
  { withPacks = false }: FolderContents = {},
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const about = await stat(path).catch((cause: unknown) => {
      throw new ReeveError('usage', `${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (about.isDirectory()) found.push(...(await inFolder(path, withPacks)));
    else found.push(path);
  }
  return found;
}

async function inFolder(folder: string, withPacks: boolean): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const named = entries.filter(
    ({ name, parentPath }) =>
      /\.ya?ml$/.test(name) &&
      !/\.test\.ya?ml$/.test(name) &&
      !relative(folder, join(parentPath, name))
        .split('/')
        .some((part) => part.startsWith('.') || part === 'node_modules'),
  );
  const found: string[] = [];
  for (const entry of named) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await isLinkWithin(folder, path)))) found.push(path);
  }
  return found.filter((path) => withPacks || !isPackPath(relative(folder, path))).toSorted();
}

/**
 * Returns whether a symbolic link leads to a file in the folder, as each file of a volume of Kubernetes does. Links that lead out
 * of the folder are skipped: a checkout may hold them, and problems show lines of files.
 */
async function isLinkWithin(folder: string, path: string): Promise<boolean> {
  try {
    const target = await realpath(path);
    return target.startsWith(`${await realpath(folder)}${sep}`) && (await stat(target)).isFile();
  } catch {
    // A link to nothing.
    return false;
  }
}

/**
 * Loads every rule file at these paths, with the packs that it includes; a repository's own file has the permissions of
 * repositories, and includes those of `offered`. An invalid or unreadable file has problems and no rules, and does not
 * affect the others.
 */
export async function loadRuleFiles(
  paths: readonly string[],
  options: FolderContents & { readonly offered?: PackReader | undefined } = {},
): Promise<readonly FolderFile[]> {
  const found = await findRuleFiles(paths, options);
  const files = await Promise.all(found.map((path) => loadFolderFile(path, options)));
  // Packs are not in force by themselves, and files of different repositories never together.
  const together = files.filter(({ path }) => !isPackPath(path) && levelOfFile(path) === 'operator');
  const clashes = clashesOfFiles(together.map(({ rules }) => rules));
  return Promise.all(
    files.map((file) =>
      withClashes(
        file,
        clashes.filter(({ rule }) => file.rules.includes(rule)),
      ),
    ),
  );
}

/** Returns a file without its rules if others write their statuses. */
async function withClashes(file: FolderFile, clashes: readonly StatusClash[]): Promise<FolderFile> {
  if (clashes.length === 0) return file;
  const text = await readFile(file.path, 'utf8');
  const problems = clashes.map(({ step, message }) =>
    problemAtLine({ code: 'status-name', message, path: file.path, line: step.line }, () => text),
  );
  return { ...file, rules: [], problems };
}

/** Loads one file. A pack is read with its examples for parameters without default, because it is not in force alone. */
export async function loadFolderFile(
  path: string,
  {
    offered,
    parameters,
  }: {
    readonly offered?: PackReader | undefined;
    readonly parameters?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<FolderFile> {
  const text = await readFile(path);
  const folder = dirname(path);
  const reader = createFolderReader({ folder, shown: folder, isReadable: true }, offered);
  const packs = await gatherPacks({ path, text }, reader);
  const given = { useExamples: isPackPath(path), with: parameters ?? {} };
  const source = { path, text, packs, level: levelOfFile(path), commit: '', registry };
  return { path, ...loadRuleFile({ ...source, parameters: given }) };
}
