import type { RepositoryRow } from '../core/rows.ts';
import {
  isUncounted,
  type LinguistAttributes,
  languageOf,
  readLinguistAttributes,
} from '../detection/languages.ts';
import { licensesOf } from '../detection/licenses.ts';
import { readBranch } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { type DeepEntry, findEntry, readBlob, readTreeDeep } from '../git/tree.ts';

/** Bytes of a file that decide about its language where its name does not. */
const headBytes = 16 * 1024;
/** Larger files are judged by their name alone. */
const maxReadBytes = 1024 * 1024;
/** Files that are looked at; of a larger repository, the first ones. */
const maxFiles = 50_000;
/** Files whose sizes are asked for at a time. */
const atOnce = 500;

/** Returns the bytes of each language on the default branch, most first. */
export async function countLanguages(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<Readonly<Record<string, number>>> {
  const commit = await readBranch(git, repository.default_branch);
  const entries = commit && (await readTreeDeep(git, commit.tree));
  if (commit === undefined || entries === undefined) return {};
  const attributesOf = readLinguistAttributes((await readTextFile(git, commit.id, '.gitattributes')) ?? '');
  const files = entries.filter(({ kind }) => kind === 'file').slice(0, maxFiles);
  const sizes = new Map<string, number>();
  for (let from = 0; from < files.length; from += atOnce) {
    const counted = files
      .slice(from, from + atOnce)
      .map((file) => countFile(git, file, attributesOf(file.path)));
    for (const count of await Promise.all(counted)) {
      if (count !== undefined) sizes.set(count.language, (sizes.get(count.language) ?? 0) + count.size);
    }
  }
  const sorted = [...sizes].toSorted(([one, more], [other, less]) => less - more || (one < other ? -1 : 1));
  return Object.fromEntries(sorted);
}

async function countFile(
  git: GitRepository,
  { id, path }: DeepEntry,
  { isCounted, language }: LinguistAttributes,
): Promise<{ readonly language: string; readonly size: number } | undefined> {
  if (isCounted === false || (isCounted === undefined && language === undefined && isUncounted(path)))
    return undefined;
  const name = language ?? languageOf(path, (await needsHead(git, path, id)) ?? '');
  if (name === undefined) return undefined;
  const size = (await git.objects.info(id))?.size ?? 0;
  return size > 0 ? { language: name, size } : undefined;
}

/** Returns the beginning of a file whose name alone does not tell its language. */
async function needsHead(git: GitRepository, path: string, id: string): Promise<string | undefined> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.includes('.') && !/\.(h|m)$/i.test(name)) return undefined;
  const blob = await readBlob(git, id, maxReadBytes);
  return blob?.content?.subarray(0, headBytes).toString('utf8');
}

/** Returns the SPDX ids of the licences in the file `LICENSE` of the default branch. */
export async function listLicenses(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<readonly string[]> {
  const commit = await readBranch(git, repository.default_branch);
  const text = commit && (await readTextFile(git, commit.id, 'LICENSE'));
  return text === undefined ? [] : licensesOf(text);
}

/** Returns the text of a file of at most 1 MiB; undefined where there is none. */
export async function readTextFile(
  git: GitRepository,
  commitId: string,
  path: string,
): Promise<string | undefined> {
  const entry = await findEntry(git, commitId, path);
  if (entry?.kind !== 'file') return undefined;
  return (await readBlob(git, entry.id, maxReadBytes))?.content?.toString('utf8');
}
