import type { Client } from '../client/client.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import type { ContentsEntry } from '../contract/resources/contents.ts';
import { ReeveError } from '../errors.ts';
import { type LoadedFile, loadRuleFile } from '../rules/files/load.ts';
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

/** Returns where the head of a repository's default branch stands. */
async function readHead(client: Client, given: { owner: string; name: string }): Promise<Head> {
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

/** Where a file is read: one commit, or where `ref` is undefined the default branch as it is now. */
export type Place = { readonly at: RepositoryRef; readonly ref: string | undefined };

/** How often a branch may move under the reading before it is left for later. */
const maxMoves = 3;

/** What is read from a place, and what is made of a place that cannot be told from another. */
type Reader<T> = {
  read(place: Head & Place): Promise<{ readonly value: T; readonly decides: boolean }>;
  refuse(head: Head, why: string): T;
};

/**
 * Reads from the default branch and returns what was read with the commit it stood at: the branch must be found at the
 * same commit before and after. What it is called in between must not be something that whoever may push can take over.
 * Gitea since 1.24 looks for a branch, a tag and a commit in this order: there no ref is given, which is the default
 * branch. Forgejo, and Gitea before, let git look, which finds a tag before a branch, but takes a whole id of a commit as
 * it is: there the commit is given. So it is where the forge does not tell its line, and then nothing may be called so.
 * Source: forge `services/context/repo.go`, `routers/api/v1/utils/git.go`; before 1.24 `services/repository/files/content.go`
 * and `modules/git/repo_commit_nogogit.go`, in Forgejo `modules/git/repo_commit.go`.
 */
export async function readSteadily<T>(
  client: Client,
  given: { owner: string; name: string },
  { read, refuse }: Reader<T>,
): Promise<{ readonly head: Head; readonly value: T }> {
  for (let moves = 0; ; moves += 1) {
    const head = await readHead(client, given);
    const { isCertain, has } = await client.capabilities();
    const ref = head.commit === '' || (isCertain && has.branches_before_tags) ? undefined : head.commit;
    const { value, decides } = await read({ ...head, ref });
    if (!isCertain && ref !== undefined && (await isName(client, head))) {
      return { head, value: refuse(head, `a branch or tag is called ${ref}, like its newest commit`) };
    }
    // Where nothing was found nothing is decided, and looking again would tell nothing.
    if (!decides) return { head, value };
    const after = await readHead(client, head.at);
    if (after.commit === head.commit && after.at.id === head.at.id) return { head, value };
    if (moves === maxMoves) {
      const where = `${head.at.owner}/${head.at.name}`;
      throw new ReeveError('forge-unavailable', `the default branch of ${where} moves while it is read`);
    }
  }
}

/** Tells whether a branch or tag has the id of the commit for its name. */
async function isName(client: Client, { at, commit }: Head): Promise<boolean> {
  const params = { owner: at.owner, repo: at.name };
  const asked = await Promise.all([
    unlessAbsent(client.call(operations.getBranch, { params: { ...params, branch: commit } })),
    unlessAbsent(client.call(operations.getTag, { params: { ...params, tag: commit } })),
  ]);
  return asked.some((found) => found !== undefined);
}

/** Returns what stands at a path, a folder's entries among it; undefined where nothing does. */
export async function readEntry(
  client: Client,
  { at, ref }: Place,
  path: string,
): Promise<ContentsEntry | readonly ContentsEntry[] | undefined> {
  return unlessAbsent(
    client.call(operations.getContents, {
      params: { owner: at.owner, repo: at.name, filepath: path },
      ...(ref === undefined ? {} : { query: { ref } }),
    }),
  );
}

async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
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
  const text = Buffer.from(entry.content, 'base64');
  const { source, commit, level, grants, home } = options;
  const loaded = loadRuleFile({ path: source, text, level, commit, registry, grants });
  return { ...loaded, rules: loaded.rules.map((rule) => ({ ...rule, home })) };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
