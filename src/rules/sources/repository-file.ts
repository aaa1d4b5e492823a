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
import { createGrants, type Grant } from './grants.ts';
import { type LastValid, type LastValidFile, type RuleContent, withLastValidWords } from './last-valid.ts';

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

/** How the entries of a location are loaded. */
type EntryLoading = {
  readonly source: string;
  readonly commit: string;
  readonly level: Level;
  readonly grants: readonly ScopedGrant[];
  readonly home: RuleHome;
  readonly reader: PackReader;
  /** Whether the file is a pack. A pack is only checked; its parameters without a default use their examples. */
  readonly isPack?: boolean;
};

/**
 * Loads the rules of an entry with the packs that it includes; returns the problem as text if the entry cannot be used.
 */
export async function loadEntry(
  entry: PathEntry,
  loading: EntryLoading,
): Promise<(LoadedFile & { readonly content: RuleContent }) | string> {
  const found = plainContentOf(entry);
  if ('refused' in found) return found.refused;
  const { text } = found;
  const packs = await gatherPacks({ path: loading.source, text }, loading.reader);
  return { ...loadText({ text, packs }, loading), content: { text, packs } };
}

/** Loads the rules of a text with its packs. */
export function loadText(
  { text, packs }: RuleContent,
  { source, commit, level, grants, home, isPack = false }: Omit<EntryLoading, 'reader'>,
): LoadedFile {
  const parameters = { useExamples: isPack };
  const loaded = loadRuleFile({ path: source, text, level, commit, registry, grants, packs, parameters });
  return { ...loaded, rules: loaded.rules.map((rule) => ({ ...rule, home })) };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/**
 * The rules of a file on a forge, or its problems. `commit` is the head of the default branch when the file was read.
 */
export type RepositoryRules = {
  /** Rules in force: those of the file or, if it has problems, of its last valid version. */
  readonly rules: readonly LoadedRule[];
  readonly source: string;
  /** Level of the file, independently of its path. */
  readonly level: Level;
  readonly commit: string;
  /** Problems as text; empty if there are no problems or there is no file. */
  readonly problems: readonly string[];
  /** Whether the file includes packs, so that changes to the packs affect it. */
  readonly includes?: boolean;
  /** Set if the file has problems and its last valid version is in force: the commit of that version. */
  readonly lastValid?: { readonly commit: string };
};

/** Current identity of a repository, with its rules. */
export type RepositoryReading = { readonly head: BranchHead; readonly file: RepositoryRules };

const level: Level = 'repository';

/**
 * Reads the rule file of a repository at the head of its default branch. The repository is identified by its id, across
 * renames. Refuses symbolic links, submodules, folders, and large or duplicate files. With `keeping`, the last valid
 * version of an invalid file stays in force. Throws `forge-not-found` if another repository has the name now, so that its file is not cached under this
 * id.
 */
export async function readRepositoryRules(
  client: Client,
  at: RepositoryRef,
  grants: readonly ScopedGrant[] = [],
  reader: PackReader = noPacks,
  keeping?: { readonly lastValid: LastValid; readonly grants: readonly Grant[] },
): Promise<RepositoryReading> {
  const { head, value } = await readAtHead<FoundRules>(client, at, {
    async read(found) {
      if (found.at.id !== at.id) throw anotherRepository(at, found.at.id);
      const value = await findFileAt(client, found, grants, reader);
      const { rules, problems, commit } = value.file;
      return { value, decides: rules.length + problems.length > 0 && commit !== '' };
    },
    refuse: ({ at: there, commit }, why) => ({
      file: {
        rules: [],
        source: `${there.owner}/${there.name}`,
        level,
        commit,
        problems: [`${there.owner}/${there.name}: ${why}; as long as it exists, no rule file is used`],
      },
    }),
  });
  const { file, paths, content } = value;
  if (paths === undefined || keeping === undefined) return { head, file };
  const { rules, commit } = file;
  const isValid = content !== undefined;
  const sourceOf = (path: string): string => `${head.at.owner}/${head.at.name}/${path}`;
  const restored = await keeping.lastValid.settle({
    place: `repository ${at.id}`,
    files: paths.map((path) => ({ path, commit, rules, isValid, content })),
    grants: keeping.grants,
    scope: (given) => createGrants(given).ofRepository(at),
    reader: () => reader,
    load: ({ path, text, packs, ...given }) =>
      loadText({ text, packs }, { ...given, source: sourceOf(path), level, home: { repositoryId: at.id } }),
  });
  // Only one path is stored: that of the file that was in force.
  const [[path, last] = []] = [...restored];
  if (path === undefined || last === undefined) return { head, file };
  return { head, file: { ...withLastValid(file, last), source: sourceOf(path) } };
}

/** Returns an invalid file with the rules of its last valid version, which its problems mention. */
export function withLastValid(file: RepositoryRules, { rules, commit }: LastValidFile): RepositoryRules {
  const problems = withLastValidWords(file.problems, commit);
  return { ...file, rules, problems, lastValid: { commit }, includes: true };
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
  return (await findFileAt(client, { at, commit, ref }, grants, reader)).file;
}

/** The rule file of a repository, with the paths that exist (absent: unknown) and the content of a valid file. */
type FoundRules = {
  readonly file: RepositoryRules;
  readonly paths?: readonly string[];
  readonly content?: RuleContent;
};

async function findFileAt(
  client: Client,
  { at, commit, ref }: CommitRevision,
  grants: readonly ScopedGrant[],
  reader: PackReader,
): Promise<FoundRules> {
  const none = { rules: [], source: `${at.owner}/${at.name}`, level, commit, problems: [] };
  if (commit === '') return { file: none, paths: [] };
  const found = (
    await Promise.all(
      repositoryPaths.map(async (path) => ({ path, entry: await readEntry(client, { at, ref }, path) })),
    )
  ).filter(({ entry }) => entry !== undefined);
  const [first] = found;
  if (first?.entry === undefined) {
    if ((await readEntry(client, { at, ref }, misspeltPath)) === undefined) return { file: none, paths: [] };
    const source = `${at.owner}/${at.name}/${misspeltPath}`;
    const problem = `${source}: this file is not read; rename it to ${repositoryPaths[0]}`;
    return { file: { ...none, source, problems: [problem] }, paths: [] };
  }
  const paths = found.map(({ path }) => path);
  if (found.length > 1) {
    const problem = `${paths.join(' and ')} both exist; keep only one of them, until then none is used`;
    return { file: { ...none, problems: [problem] } };
  }
  const source = `${at.owner}/${at.name}/${first.path}`;
  const home = { repositoryId: at.id };
  const loaded = await loadEntry(first.entry, { source, commit, level, grants, home, reader });
  if (typeof loaded === 'string') {
    // A regular file that was replaced by something else, such as a link, was deleted.
    const isFile = !isList(first.entry) && first.entry.type === 'file';
    const file = { ...none, source, problems: [`${source}: ${loaded}`] };
    return { file, paths: isFile ? paths : [] };
  }
  const { rules, content } = loaded;
  const problems = loaded.problems.map(formatProblem);
  const file = { rules, source, level, commit, problems, includes: content.packs.size > 0 };
  return problems.length === 0 ? { file, paths, content } : { file, paths };
}

/** Used for files without a known operator or organization: no packs are offered. */
const noPacks: PackReader = {
  read: async (request) => notOffered('pack' in request ? request.pack : request.file, []),
};
