import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { ContentsEntry } from '../../contract/resources/contents.ts';
import { ReeveError } from '../../platform/errors.ts';
import { type LoadedFile, loadRuleFile } from '../files/load.ts';
import { gatherPacks, notOffered, type PackReader } from '../files/packs.ts';
import { formatProblem } from '../problem.ts';
import { registry } from '../registry.ts';
import type { Level, LoadedRule, RuleHome, ScopedGrant } from '../rule.ts';

/** Possible paths of a repository's rule file. A repository may have a file at only one of them. */
export const repositoryPaths = ['.reeve.yml', '.forgejo/reeve.yml', '.gitea/reeve.yml'] as const;

/**
 * A common misspelling of the file's name. The file is not read: a repository that has only this file gets a report.
 */
const misspeltPath = '.reeve.yaml';

/** Returns the level of a file by its path: a repository's file has the permissions of repositories. */
export function levelOfFile(path: string): Level {
  const name = path.replaceAll('\\', '/');
  return repositoryPaths.some((known) => name === known || name.endsWith(`/${known}`))
    ? 'repository'
    : 'operator';
}

const maxBytes = 64 * 1024;

/** Head of a repository's default branch. `commit` is empty if the branch has no commit. */
export type BranchHead = {
  /** Current identity of the repository, after any renames. */
  readonly at: RepositoryRef;
  readonly commit: string;
  readonly archived: boolean;
  /** Whether the repository is private or internal, so that not everyone can read it. */
  readonly isPrivate: boolean;
};

/** Returns the head of a repository's default branch. */
async function readHead(client: Client, given: { owner: string; name: string }): Promise<BranchHead> {
  const params = { owner: given.owner, repo: given.name };
  const live = await client.call(operations.getRepository, { params });
  const at = { id: live.id, owner: live.owner.login, name: live.name };
  const archived = live.archived === true;
  const isPrivate = live.private !== false || live.internal === true;
  if (live.empty || !live.default_branch) return { at, commit: '', archived, isPrivate };
  try {
    const branch = await client.call(operations.getBranch, {
      params: { owner: at.owner, repo: at.name, branch: live.default_branch },
    });
    return { at, commit: branch.commit?.id ?? '', archived, isPrivate };
  } catch (error) {
    // The default branch was deleted, so there are no rules to read.
    if (isAbsent(error)) return { at, commit: '', archived, isPrivate };
    throw error;
  }
}

/** Revision to read a file at: a commit, or the current default branch if `ref` is undefined. */
export type FileRevision = { readonly at: RepositoryRef; readonly ref: string | undefined };

/** A revision with the commit to record for it. */
export type CommitRevision = FileRevision & { readonly commit: string };

/** Content of a path: a file, or the entries of a folder. */
export type PathEntry = ContentsEntry | readonly ContentsEntry[];

/** Maximum number of retries if the branch moves during the read. */
const maxMoves = 3;

/** `read` reads the value; `refuse` returns the value to use if the ref is ambiguous. */
type HeadReader<T> = {
  read(place: BranchHead & FileRevision): Promise<{ readonly value: T; readonly decides: boolean }>;
  refuse(head: BranchHead, why: string): T;
};

/**
 * Reads from the default branch and returns the value with its commit; the branch must be at the same commit before and
 * after the read. A user with push access must not be able to redefine the ref that is used. Gitea since 1.24 resolves
 * a name first as a branch, then as a tag, then as a commit: no ref is sent, which means the default branch. Forgejo,
 * and Gitea before 1.24, let git resolve the name, which prefers a tag to a branch, but accepts a full commit id
 * unchanged: the commit id is sent. The commit id is also sent if the product line is unknown; in this case, no branch
 * or tag may have the commit id as its name. Source: forge `services/context/repo.go`, `routers/api/v1/utils/git.go`;
 * before 1.24 `services/repository/files/content.go` and `modules/git/repo_commit_nogogit.go`, in Forgejo
 * `modules/git/repo_commit.go`.
 */
export async function readAtHead<T>(
  client: Client,
  given: { owner: string; name: string },
  { read, refuse }: HeadReader<T>,
): Promise<{ readonly head: BranchHead; readonly value: T }> {
  for (let moves = 0; ; moves += 1) {
    const head = await readHead(client, given);
    const { isCertain, has } = await client.capabilities();
    const ref = head.commit === '' || (isCertain && has.branches_before_tags) ? undefined : head.commit;
    const { value, decides } = await read({ ...head, ref });
    if (!isCertain && ref !== undefined && (await isName(client, head))) {
      return {
        head,
        value: refuse(head, `a branch or tag has the id of the newest commit, ${ref}, as its name`),
      };
    }
    // Nothing was found, so a second read has nothing to confirm.
    if (!decides) return { head, value };
    const after = await readHead(client, head.at);
    if (after.commit === head.commit && after.at.id === head.at.id) return { head, value };
    if (moves === maxMoves) {
      const where = `${head.at.owner}/${head.at.name}`;
      throw new ReeveError('forge-unavailable', `the default branch of ${where} moves while it is read`);
    }
  }
}

/** Returns whether a branch or tag has the commit id as its name. */
async function isName(client: Client, { at, commit }: BranchHead): Promise<boolean> {
  const params = { owner: at.owner, repo: at.name };
  const asked = await Promise.all([
    unlessAbsent(client.call(operations.getBranch, { params: { ...params, branch: commit } })),
    unlessAbsent(client.call(operations.getTag, { params: { ...params, tag: commit } })),
  ]);
  return asked.some((found) => found !== undefined);
}

/** Returns the entry at a path, or the entries of a folder; undefined if the path does not exist. */
export async function readEntry(
  client: Client,
  { at, ref }: FileRevision,
  path: string,
): Promise<PathEntry | undefined> {
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

/** The bytes of a file, or the reason why the file cannot be used. */
export type PlainContent = { readonly text: Uint8Array } | { readonly refused: string };

/**
 * Returns the content of an entry, or the reason why it cannot be used. Symbolic links, submodules, folders and large
 * files are refused: rules must be in a regular file of the branch itself.
 */
export function plainContentOf(entry: PathEntry): PlainContent {
  const type = isList(entry) ? 'dir' : entry.type;
  if (isList(entry) || type !== 'file')
    return { refused: `it is a ${type}; rules are read only from regular files` };
  if ((entry.size ?? 0) > maxBytes)
    return { refused: `it has ${entry.size} bytes; the maximum for a rule file is ${maxBytes}` };
  if (entry.encoding !== 'base64' || typeof entry.content !== 'string')
    return { refused: 'the forge did not return its content' };
  return { text: Buffer.from(entry.content, 'base64') };
}

/**
 * Loads the rules of an entry with the packs that it includes; returns the problem as text if the entry cannot be used.
 */
export async function loadEntry(
  entry: PathEntry,
  options: {
    source: string;
    commit: string;
    level: Level;
    grants: readonly ScopedGrant[];
    home: RuleHome;
    reader: PackReader;
    /** Whether the file is a pack. A pack is only checked; its parameters without a default use their examples. */
    isPack?: boolean;
  },
): Promise<(LoadedFile & { readonly includes: boolean }) | string> {
  const content = plainContentOf(entry);
  if ('refused' in content) return content.refused;
  const { text } = content;
  const { source, commit, level, grants, home, reader, isPack = false } = options;
  const packs = await gatherPacks({ path: source, text }, reader);
  const parameters = { useExamples: isPack };
  const loaded = loadRuleFile({ path: source, text, level, commit, registry, grants, packs, parameters });
  const rules = loaded.rules.map((rule) => ({ ...rule, home }));
  return { ...loaded, rules, includes: packs.size > 0 };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/**
 * The rules of a file on a forge, or its problems. `commit` is the head of the default branch when the file was read.
 */
export type RepositoryRules = {
  readonly rules: readonly LoadedRule[];
  readonly source: string;
  /** Level of the file, independently of its path. */
  readonly level: Level;
  readonly commit: string;
  /** Problems as text; empty if there are no problems or there is no file. */
  readonly problems: readonly string[];
  /** Whether the file includes packs, so that changes to the packs affect it. */
  readonly includes?: boolean;
};

/** Current identity of a repository, with its rules. */
export type RepositoryReading = { readonly head: BranchHead; readonly file: RepositoryRules };

const level: Level = 'repository';

/**
 * Reads the rule file of a repository at the head of its default branch. The repository is identified by its id, across
 * renames. Refuses symbolic links, submodules, folders, and large or duplicate files. Throws `forge-not-found` if
 * another repository has the name now, so that its file is not cached under this id.
 */
export async function readRepositoryRules(
  client: Client,
  at: RepositoryRef,
  grants: readonly ScopedGrant[] = [],
  reader: PackReader = noPacks,
): Promise<RepositoryReading> {
  const { head, value } = await readAtHead<RepositoryRules>(client, at, {
    async read(found) {
      if (found.at.id !== at.id) throw anotherRepository(at, found.at.id);
      const file = await readFileAt(client, found, grants, reader);
      return { value: file, decides: file.rules.length + file.problems.length > 0 && file.commit !== '' };
    },
    refuse: ({ at: there, commit }, why) => ({
      rules: [],
      source: `${there.owner}/${there.name}`,
      level,
      commit,
      problems: [`${there.owner}/${there.name}: ${why}; as long as it exists, no rule file is used`],
    }),
  });
  return { head, file: value };
}

function anotherRepository({ id, owner, name }: RepositoryRef, seen: number): ReeveError {
  return new ReeveError(
    'forge-not-found',
    `${owner}/${name} is now a different repository (id ${seen}, not ${id}): its rule file is not used`,
  );
}

/**
 * Reads the rule file of a repository at `ref`, or at the default branch if `ref` is undefined. `commit` is recorded in
 * runs.
 */
export async function readFileAt(
  client: Client,
  { at, commit, ref }: CommitRevision,
  grants: readonly ScopedGrant[],
  reader: PackReader,
): Promise<RepositoryRules> {
  const none = { rules: [], source: `${at.owner}/${at.name}`, level, commit, problems: [] };
  if (commit === '') return none;
  const found = (
    await Promise.all(
      repositoryPaths.map(async (path) => ({ path, entry: await readEntry(client, { at, ref }, path) })),
    )
  ).filter(({ entry }) => entry !== undefined);
  const [first] = found;
  if (first?.entry === undefined) {
    if ((await readEntry(client, { at, ref }, misspeltPath)) === undefined) return none;
    const source = `${at.owner}/${at.name}/${misspeltPath}`;
    return {
      ...none,
      source,
      problems: [`${source}: this file is not read; rename it to ${repositoryPaths[0]}`],
    };
  }
  if (found.length > 1) {
    const names = found.map(({ path }) => path).join(' and ');
    const problem = `${names} both exist; keep only one of them, until then none is used`;
    return { ...none, problems: [problem] };
  }
  const source = `${at.owner}/${at.name}/${first.path}`;
  const home = { repositoryId: at.id };
  const loaded = await loadEntry(first.entry, { source, commit, level, grants, home, reader });
  if (typeof loaded === 'string') return { ...none, source, problems: [`${source}: ${loaded}`] };
  const { rules, includes } = loaded;
  return { rules, source, level, commit, problems: loaded.problems.map(formatProblem), includes };
}

/** Used for files without a known operator or organization: no packs are offered. */
const noPacks: PackReader = {
  read: async (request) => notOffered('pack' in request ? request.pack : request.file, []),
};
