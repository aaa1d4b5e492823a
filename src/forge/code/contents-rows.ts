import { type CommitData, instantOf } from '../platform/git/commit.ts';
import type { Resolved } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readBlob, type TreeEntry } from '../platform/git/tree.ts';
import { escapePath, type RepositoryAddress } from './commits-rows.ts';
import { maxPointerBytes, parsePointer } from './lfs-rows.ts';

/** Optional fields to include in an entry. */
export type Includes = {
  readonly fileContent: boolean;
  readonly lfs: boolean;
  readonly commit: boolean;
  readonly message: boolean;
};

/** A commit, and the ref name by which the caller requested it. */
export type ContentsRevision = { readonly ref: Resolved; readonly word: string };

type EntrySource = {
  readonly repository: GitRepository;
  readonly address: RepositoryAddress;
  readonly view: ContentsRevision;
  /** Full path of the entry. */
  readonly path: string;
};

/** Returns a tree entry as the API shows it; `last` is the commit that last changed the entry, if the API shows it. */
export async function toContentsEntry(
  place: EntrySource,
  entry: TreeEntry,
  includes: Includes,
  last: CommitData | undefined,
) {
  const { repository, address, path } = place;
  const self = `${address.api}/contents/${escapePath(path)}?ref=${encodeURIComponent(place.view.word)}`;
  const isBlob = entry.kind === 'file' || entry.kind === 'symlink';
  const size = isBlob ? ((await repository.objects.info(entry.id))?.size ?? 0) : 0;
  const isLocal = entry.kind !== 'submodule';
  const html = isLocal ? `${address.html}/src/${linkOf(place.view)}/${escapePath(path)}` : null;
  const git = isLocal ? `${address.api}/git/blobs/${entry.id}` : null;
  return {
    name: entry.name,
    path,
    sha: entry.id,
    ...lastCommitMembers(includes, last),
    type: entry.kind,
    size,
    encoding: null,
    content: null,
    target: entry.kind === 'symlink' ? await readTarget(repository, entry) : null,
    url: self,
    html_url: html,
    git_url: git,
    download_url: isBlob ? `${address.html}/raw/${linkOf(place.view)}/${escapePath(path)}` : null,
    submodule_git_url: entry.kind === 'submodule' ? await readSubmoduleUrl(place) : null,
    _links: { self, git, html },
    ...(entry.kind === 'file' ? await readFile(repository, entry, size, includes) : {}),
  };
}

function lastCommitMembers(includes: Includes, last: CommitData | undefined) {
  if (last === undefined) return {};
  const dates = {
    last_commit_sha: last.id,
    last_committer_date: instantOf(last.committer),
    last_author_date: instantOf(last.author),
  };
  return {
    ...(includes.commit ? dates : {}),
    ...(includes.message ? { last_commit_message: last.message } : {}),
  };
}

/** Returns the ref part of a web URL. */
function linkOf({ ref, word }: ContentsRevision): string {
  if (ref.kind === 'commit') return `commit/${ref.commit.id}`;
  return `${ref.kind}/${escapePath(word.replace(/^refs\/(heads|tags)\//, ''))}`;
}

async function readTarget(repository: GitRepository, entry: TreeEntry): Promise<string> {
  const blob = await readBlob(repository, entry.id);
  return blob?.content?.subarray(0, 1024).toString('utf8') ?? '';
}

async function readFile(repository: GitRepository, entry: TreeEntry, size: number, includes: Includes) {
  const mayBePointer = size > 0 && size < maxPointerBytes && (includes.lfs || includes.fileContent);
  if (!includes.fileContent && !mayBePointer) return {};
  const content = (await readBlob(repository, entry.id))?.content;
  if (content === undefined) return {};
  return {
    ...(mayBePointer ? pointerMembers(content) : {}),
    ...(includes.fileContent ? { encoding: 'base64', content: content.toString('base64') } : {}),
  };
}

function pointerMembers(content: Buffer): { lfs_oid?: string; lfs_size?: number } {
  const pointer = parsePointer(content);
  return pointer ? { lfs_oid: pointer.oid, lfs_size: pointer.size } : {};
}

/** Parses `.gitmodules` at the root: sections with a `path` and a `url`. */
async function readSubmoduleUrl({ repository, view, path }: EntrySource): Promise<string | null> {
  const file = await findEntry(repository, view.ref.commit.id, '.gitmodules');
  const blob = file?.kind === 'file' ? await readBlob(repository, file.id, 64 * 1024) : undefined;
  for (const section of (blob?.content?.toString('utf8') ?? '').split(/^\s*\[/m)) {
    const value = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*(.*?)\\s*$`, 'm').exec(section)?.[1];
    if (value('path') === path) return value('url') ?? null;
  }
  return null;
}
