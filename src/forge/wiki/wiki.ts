import type { EditWikiPage } from '../../contract/resources/wiki.ts';
import { toUser } from '../accounts/users-rows.ts';
import { signatureOf } from '../code/commits-rows.ts';
import { wikiPayload } from '../hooks/payloads.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { FileEdit } from '../platform/git/commit-files.ts';
import { lastCommits } from '../platform/git/history.ts';
import { cleanWritePath } from '../platform/git/names.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { defaultLimit, pageHeaders } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { assertUsable, fileNameOf, webNameIn, webNameOf, webNameOfFile } from './names.ts';
import {
  ensureWiki,
  findPage,
  listRevisions,
  readCommits,
  readWiki,
  toMetaData,
  toWikiCommit,
  toWikiPage,
  type Wiki,
  wikiBranch,
  wikiIdOf,
} from './wiki-service.ts';

type Scene = Pick<RepositoryTarget, 'repository' | 'owner'> & {
  readonly context: ForgeContext;
  readonly caller: UserRow;
};

/**
 * Commits the edits that `plan` returns for the current wiki, with exclusive access; the first commit creates the wiki.
 */
async function commitPages(
  { context, repository, caller }: Scene,
  message: string,
  plan: (wiki: Wiki | undefined) => FileEdit[],
): Promise<void> {
  await ensureWiki(context, repository);
  const id = wikiIdOf(repository);
  await context.git.exclusively(id, 'refs', async () => {
    const wiki = await readWiki(context, repository);
    const author = signatureOf(context, caller);
    const edits = plan(wiki);
    const at = { before: wiki?.head.id, parent: wiki?.head.id };
    await context.git.commitFiles(id, {
      branch: wikiBranch,
      ...at,
      // git itself also ends a commit message with a newline.
      message: `${message}\n`,
      author,
      committer: author,
      edits,
    });
  });
}

type WikiNews = {
  readonly action: 'created' | 'edited' | 'deleted';
  readonly page: string;
  readonly comment?: string;
};

function emitWiki({ context, repository, owner, caller }: Scene, { action, page, comment }: WikiNews): void {
  context.emit({
    type: 'wiki',
    repository,
    owner,
    payload: () =>
      wikiPayload({
        action,
        page,
        comment: comment ?? '',
        repository: toRepository(context, repository, { owner, viewer: undefined, permission: 'owner' }),
        sender: toUser(context, caller, undefined),
      }),
  });
}

function readContent(body: EditWikiPage): Buffer {
  const text = (body.content_base64 ?? '').replace(/[\r\n]/g, '');
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (!isBase64) throw new ForgeProblem(400, 'illegal base64 data');
  return Buffer.from(text, 'base64');
}

/** Returns the file name of a page, or ends the request with 400 if no file can have this name. */
function fileToWrite(wiki: Wiki | undefined, webName: string): string {
  const known = wiki && findPage(wiki, webName);
  const file = cleanWritePath(known?.name ?? fileNameOf(webName));
  if (!file || file.includes('/')) throw new ForgeProblem(400, `wiki title is not usable: ${webName}`);
  return file;
}

async function createPage(scene: Scene, body: EditWikiPage) {
  if ((body.title ?? '').trim() === '') throw new ForgeProblem(400, 'title is required');
  const title = body.title ?? '';
  const webName = webNameOf(title);
  const message = body.message || `Add ${JSON.stringify(title)}`;
  const content = readContent(body);
  assertUsable(webName);
  fileToWrite(undefined, webName);
  await commitPages(scene, message, (wiki) => {
    if (wiki && findPage(wiki, webName))
      throw new ForgeProblem(400, `wiki page already exists [title: ${fileNameOf(webName)}]`);
    return [{ path: fileToWrite(wiki, webName), content }];
  });
  emitWiki(scene, { action: 'created', page: webName, comment: message });
  return toWikiPage(scene.context, scene, webName);
}

/** Edits a page. A missing page is created, as in Gitea. */
async function editPage(scene: Scene, oldName: string, body: EditWikiPage) {
  // Gitea treats an absent title as an empty one, for which the page name is `unnamed`.
  const webName = webNameOf((body.title ?? '').trim() || 'unnamed');
  const message = body.message || `Update ${JSON.stringify(webName)}`;
  const content = readContent(body);
  assertUsable(webName);
  fileToWrite(undefined, webName);
  await commitPages(scene, message, (wiki) => {
    const file = fileToWrite(wiki, webName);
    const old = wiki && findPage(wiki, oldName);
    const write = { path: file, content };
    return old && old.name !== file ? [{ path: old.name, content: undefined }, write] : [write];
  });
  emitWiki(scene, { action: 'edited', page: webName, comment: message });
  return toWikiPage(scene.context, scene, webName);
}

/**
 * Returns the page size. This list has its own limits: anything below 2 selects the default, and there is no maximum.
 */
function limitOf(limit: number | undefined): number {
  return limit === undefined || limit <= 1 ? defaultLimit : limit;
}

/** Fixed page size of revisions. */
const revisionsPerPage = 50;

/** Handlers for wikis. A page's name in the path may contain an encoded slash. */
export const wikiHandlers = defineHandlers({
  async listWikiPages({ context, repository, owner, query, page, reply }) {
    const wiki = found(await readWiki(context, repository));
    const limit = limitOf(query.limit);
    const offset = (page.page - 1) * limit;
    // Entries that are not pages count for the paging, but are not shown.
    const shown = wiki.entries.slice(offset, offset + limit).filter(({ kind }) => kind === 'file');
    const address = new URL(
      `${context.rootUrl()}/api/v1/repos/${encodeURIComponent(owner.name)}/${encodeURIComponent(repository.name)}/wiki/pages`,
    );
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
    const headers = pageHeaders({
      total: wiki.entries.length,
      page: { page: page.page, limit, offset },
      links: true,
      address,
    });
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    const names = shown.map(({ name }) => name);
    const commits = await lastCommits(wiki.git, wiki.head.id, '', names);
    return names.flatMap((name) => {
      const webName = webNameOfFile(name);
      return webName === undefined
        ? []
        : [toMetaData(context, { owner, repository }, webName, commits.get(name))];
    });
  },

  getWikiPage: ({ context, repository, owner, params }) =>
    toWikiPage(context, { repository, owner }, webNameIn(params.pageName)),

  createWikiPage: ({ body, ...scene }) => createPage(scene, body),

  editWikiPage: ({ body, params, ...scene }) => editPage(scene, webNameIn(params.pageName), body),

  async deleteWikiPage({ params, ...scene }) {
    const webName = webNameIn(params.pageName);
    found(await readWiki(scene.context, scene.repository));
    await commitPages(scene, `Delete page ${JSON.stringify(webName)}`, (wiki) => {
      const entry = found(wiki && findPage(wiki, webName));
      return [{ path: entry.name, content: undefined }];
    });
    emitWiki(scene, { action: 'deleted', page: webName });
    return undefined;
  },

  async listWikiRevisions({ context, repository, params, page, reply }) {
    const wiki = found(await readWiki(context, repository));
    const entry = found(findPage(wiki, webNameIn(params.pageName) || 'Home'));
    const ids = await listRevisions(wiki, entry);
    reply.total(ids.length);
    const start = (page.page - 1) * revisionsPerPage;
    const commits = await readCommits(wiki, ids.slice(start, start + revisionsPerPage));
    return { commits: commits.map(toWikiCommit), count: ids.length };
  },
});
