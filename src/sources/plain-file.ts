import type { Client } from '../client/client.ts';
import type { ContentsEntry } from '../contract/contents.ts';
import { operations } from '../contract/operations.ts';
import type { RepositoryRef } from '../contract/subject.ts';
import { ReeveError } from '../errors.ts';
import { type LoadedFile, loadRuleFile } from '../rules/load.ts';
import { registry } from '../rules/registry.ts';
import type { Home, Level } from '../rules/rule.ts';

const maxBytes = 64 * 1024;

/** Where a repository's default branch stands. `commit` is empty where there is none to read. */
export type Head = {
  /** The repository as it is found now: a rename since is followed. */
  readonly at: RepositoryRef;
  readonly commit: string;
  readonly archived: boolean;
};

/**
 * Returns the head of a repository's default branch, by its commit: a tag or branch of the same name, or a push in
 * between, cannot swap a file that is then read by that commit.
 */
export async function readHead(client: Client, given: { owner: string; name: string }): Promise<Head> {
  const params = { owner: given.owner, repo: given.name };
  const live = await client.call(operations.getRepository, { params });
  const at = { id: live.id, owner: live.owner.login, name: live.name };
  const archived = live.archived === true;
  if (live.empty || !live.default_branch) return { at, commit: '', archived };
  try {
    const branch = await client.call(operations.getBranch, {
      params: { owner: at.owner, repo: at.name, branch: live.default_branch },
    });
    return { at, commit: branch.commit?.id ?? '', archived };
  } catch (error) {
    // A default branch that was deleted: there is no place left that rules could be read from.
    if (isAbsent(error)) return { at, commit: '', archived };
    throw error;
  }
}

/** Returns what stands at a path of a commit, a folder's entries among it; undefined where nothing does. */
export async function readEntry(
  client: Client,
  at: { owner: string; name: string },
  path: string,
  commit: string,
): Promise<ContentsEntry | readonly ContentsEntry[] | undefined> {
  try {
    return await client.call(operations.getContents, {
      params: { owner: at.owner, repo: at.name, filepath: path },
      query: { ref: commit },
    });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof ReeveError && error.code === 'forge-not-found';
}

/**
 * Loads the rules of one entry. Symbolic links, submodules, folders and large files are refused with the reason: what
 * decides must be one plain file that the branch itself holds.
 */
export function loadEntry(
  entry: ContentsEntry | readonly ContentsEntry[],
  options: { source: string; commit: string; level: Level; grants: readonly string[]; home: Home },
): LoadedFile | string {
  const type = isList(entry) ? 'dir' : entry.type;
  if (isList(entry) || type !== 'file') return `it is a ${type}, and rules are read from plain files alone`;
  if ((entry.size ?? 0) > maxBytes) return `it has ${entry.size} bytes, and a rule file may have ${maxBytes}`;
  if (entry.encoding !== 'base64' || typeof entry.content !== 'string')
    return 'the forge did not give its content';
  const text = Buffer.from(entry.content, 'base64').toString('utf8');
  const { source, commit, level, grants, home } = options;
  const loaded = loadRuleFile({ path: source, text, level, commit, registry, grants });
  return { ...loaded, rules: loaded.rules.map((rule) => ({ ...rule, home })) };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
