import { posix } from 'node:path';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import { lastCommits } from '../git/history.ts';
import { cleanTreePath, isObjectId } from '../git/names.ts';
import { resolveRef } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, readTree, type TreeEntry } from '../git/tree.ts';
import { defineHandlers } from '../http/handler.ts';
import { repositoryAddress } from '../views/commit.ts';
import { type ContentsRevision, type Includes, toContentsEntry } from './contents-entry.ts';

type ContentsRequest = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly filepath: string;
  readonly ref: string | undefined;
};

type EntryView = Awaited<ReturnType<typeof toContentsEntry>>;

/** `contents` and `contents-ext`: what stands in a tree, read from git. */
export const contentsHandlers = defineHandlers({
  listContents: async ({ query, ...call }) => {
    const includes = { fileContent: true, lfs: false, commit: true, message: false };
    return await readContents({ ...call, filepath: '', ref: query.ref || undefined }, includes);
  },

  getContents: async ({ params, query, ...call }) => {
    const includes = { fileContent: true, lfs: false, commit: true, message: false };
    return await readContents({ ...call, filepath: params.filepath, ref: query.ref || undefined }, includes);
  },

  getContentsExt: async ({ params, query, ...call }) => {
    const filepath = /^[./]$/.test(params.filepath) ? '' : params.filepath;
    const includes = parseIncludes(query.includes ?? '');
    try {
      const found = await readContents({ ...call, filepath, ref: query.ref || undefined }, includes);
      if (!Array.isArray(found)) return { file_contents: found };
      // An empty list is left out like one that was never there.
      return found.length === 0 ? {} : { dir_contents: found };
    } catch (error) {
      // Gitea goes on after the error and writes its empty answer behind it.
      if (error instanceof ForgeProblem)
        throw new ForgeProblem(error.status, error.message, 'followed-by-null');
      throw error;
    }
  },
});

const options: Readonly<Record<string, keyof Includes>> = {
  file_content: 'fileContent',
  lfs_metadata: 'lfs',
  commit_metadata: 'commit',
  commit_message: 'message',
};

function parseIncludes(text: string): Includes {
  const includes = { fileContent: false, lfs: false, commit: false, message: false };
  for (const word of text.split(',')) {
    if (word === '') continue;
    const option = Object.hasOwn(options, word) ? options[word] : undefined;
    if (option === undefined) throw new ForgeProblem(400, `unknown include option "${word}"`);
    includes[option] = true;
  }
  return includes;
}

async function readContents(asked: ContentsRequest, includes: Includes): Promise<EntryView | EntryView[]> {
  const { context, repository, ref, filepath } = asked;
  const git = context.git.open(repository.id);
  const path = cleanTreePath(withoutClimbing(filepath));
  const word = ref ?? repository.default_branch;
  // A whole name of a ref is none here, nor is the beginning of an id: only a branch, a tag or a commit is.
  const resolved = word.startsWith('refs/') ? undefined : await resolveRef(git, word);
  const isShort = resolved?.kind === 'commit' && !isObjectId(word.toLowerCase());
  if (resolved === undefined || isShort)
    throw new ForgeProblem(404, `object does not exist [id: ${word}, rel_path: ]`);
  if (filepath.includes('\0')) throw new ForgeProblem(404, 'object does not exist');
  if (path === undefined || (path === '' && filepath !== '')) {
    throw new ForgeProblem(400, `path contains a malformed path component [path: ${filepath}]`);
  }
  const view = { ref: resolved, word };
  if (path === '')
    return await listDirectory(asked, git, view, { path, treeId: resolved.commit.id }, includes);
  const entry = await findEntry(git, resolved.commit.id, path);
  if (entry === undefined) throw new ForgeProblem(404, `object does not exist [id: , rel_path: ${path}]`);
  if (entry.kind === 'dir') {
    return await listDirectory(asked, git, view, { path, treeId: entry.id }, includes);
  }
  return await describeEntry(asked, git, view, { path, entry }, includes);
}

/** Takes `..` away with the segment before it, and alone at the top: what is read never leaves the tree. */
function withoutClimbing(filepath: string): string {
  return filepath.split('/').includes('..') ? posix.join('/', filepath).slice(1) : filepath;
}

async function describeEntry(
  { context, owner, repository }: ContentsRequest,
  git: GitRepository,
  view: ContentsRevision,
  { path, entry }: { path: string; entry: TreeEntry },
  includes: Includes,
): Promise<EntryView> {
  const directory = path.split('/').slice(0, -1).join('/');
  const wantsCommit = includes.commit || includes.message;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, directory, [entry.name]) : undefined;
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  return await toContentsEntry(
    { repository: git, address, view, path },
    entry,
    includes,
    last?.get(entry.name),
  );
}

async function listDirectory(
  { context, owner, repository }: ContentsRequest,
  git: GitRepository,
  view: ContentsRevision,
  { path, treeId }: { path: string; treeId: string },
  includes: Includes,
): Promise<EntryView[]> {
  const entries = (await readTree(git, treeId)) ?? [];
  const names = entries.map((entry) => entry.name);
  const wantsCommit = (includes.commit || includes.message) && names.length > 0;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, path, names) : undefined;
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  // The content of files is for single files alone; a list would grow without bound.
  const inList = { ...includes, fileContent: false };
  return await Promise.all(
    entries.map((entry) => {
      const place = {
        repository: git,
        address,
        view,
        path: path === '' ? entry.name : `${path}/${entry.name}`,
      };
      return toContentsEntry(place, entry, inList, last?.get(entry.name));
    }),
  );
}
