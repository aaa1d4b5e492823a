import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { type CommitData, instantOf } from '../platform/git/commit.ts';
import { readBranch, readCommit } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { readBlob, readTree, type TreeEntry } from '../platform/git/tree.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import { fileNameOf, wikiTitle } from './names.ts';

/** The branch that holds a wiki's pages, regardless of the repository's default branch. */
export const wikiBranch = 'main';

/** Returns the id of the git repository of a wiki: the negated id of its repository. */
export function wikiIdOf(repository: Pick<RepositoryRow, 'id'>): number {
  return -repository.id;
}

/** Returns whether the git repository of a wiki exists. */
export function hasWiki(context: Pick<ForgeContext, 'git'>, repository: RepositoryRow): boolean {
  return context.git.exists(wikiIdOf(repository));
}

/** Creates the git repository of a wiki if it does not exist. */
export async function ensureWiki(
  context: Pick<ForgeContext, 'git'>,
  repository: RepositoryRow,
): Promise<void> {
  if (hasWiki(context, repository)) return;
  const options = { defaultBranch: wikiBranch, objectFormat: repository.object_format };
  // Exclusive, so that two concurrent first writes do not both create the wiki.
  await context.git.exclusively(wikiIdOf(repository), 'pulls', async () => {
    if (!hasWiki(context, repository)) await context.git.create(wikiIdOf(repository), options);
  });
}

/** The current state of a wiki: its git repository, its newest commit, and the entries of its root folder. */
export type Wiki = {
  readonly git: GitRepository;
  readonly head: CommitData;
  readonly entries: readonly TreeEntry[];
};

/** Returns the wiki of a repository; undefined if it has no content. */
export async function readWiki(context: ForgeContext, repository: RepositoryRow): Promise<Wiki | undefined> {
  if (!hasWiki(context, repository)) return undefined;
  const git = context.git.open(wikiIdOf(repository));
  const head = await readBranch(git, wikiBranch);
  return head && { git, head, entries: (await readTree(git, head.id)) ?? [] };
}

/**
 * Returns the entry of a page, under the file name that this forge writes, or under the decoded name that users may
 * push.
 */
export function findPage(wiki: Wiki, webName: string): TreeEntry | undefined {
  const file = fileNameOf(webName);
  const named = (name: string) => wiki.entries.find((entry) => entry.name === name && entry.kind === 'file');
  return named(file) ?? named(decoded(file));
}

function decoded(file: string): string {
  try {
    return decodeURIComponent(file.replaceAll('+', ' '));
  } catch {
    return file;
  }
}

/** Returns a revision as the API shows it; its times are in UTC. */
export function toWikiCommit(commit: CommitData) {
  const person = (who: CommitData['author']) => ({
    name: who.name,
    email: who.email,
    date: instantOf({ ...who, zone: '+0000' }),
  });
  return {
    sha: commit.id,
    author: person(commit.author),
    commiter: person(commit.committer),
    message: commit.message,
  };
}

/** Returns the fields of a page in lists. */
export function toMetaData(
  context: ForgeContext,
  { owner, repository }: Pick<RepositoryTarget, 'owner' | 'repository'>,
  webName: string,
  commit: CommitData | undefined,
) {
  return {
    title: wikiTitle(webName),
    html_url: `${context.rootUrl()}/${owner.name}/${repository.name}/wiki/${webName}`,
    sub_url: webName,
    last_commit: commit ? toWikiCommit(commit) : null,
  };
}

async function contentOf(wiki: Wiki, entry: TreeEntry | undefined): Promise<string> {
  const blob = entry && (await readBlob(wiki.git, entry.id));
  return blob?.content?.toString('base64') ?? '';
}

/** Returns a page with its content, the sidebar and the footer. Ends the request with 404 if it does not exist. */
export async function toWikiPage(
  context: ForgeContext,
  target: Pick<RepositoryTarget, 'owner' | 'repository'>,
  webName: string,
) {
  const wiki = found(await readWiki(context, target.repository));
  const entry = found(findPage(wiki, webName));
  const revisions = await listRevisions(wiki, entry);
  const [last] = await readCommits(wiki, revisions.slice(0, 1));
  return {
    ...toMetaData(context, target, webName, last),
    content_base64: await contentOf(wiki, entry),
    commit_count: revisions.length,
    sidebar: await contentOf(wiki, findPage(wiki, '_Sidebar')),
    footer: await contentOf(wiki, findPage(wiki, '_Footer')),
  };
}

/** Returns the ids of the commits that changed a page, newest first. */
export function listRevisions({ git, head }: Wiki, entry: TreeEntry): Promise<readonly string[]> {
  const read = async (): Promise<readonly string[]> => {
    const { stdout } = await git.git.run(['rev-list', head.id, '--', entry.name], { folder: git.folder });
    return stdout.toString('latin1').split('\n').filter(Boolean);
  };
  return git.cache.remember(`revisions ${head.id} ${entry.name}`, read, (ids) => ids.length * 80);
}

/** Returns the commits with these ids, in the same order. */
export async function readCommits(wiki: Wiki, ids: readonly string[]): Promise<CommitData[]> {
  const commits = await Promise.all(ids.map((id) => readCommit(wiki.git, id)));
  return commits.filter((commit) => commit !== undefined);
}
