import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { wikiAs } from '../row-fields.ts';
import { inRepository, int, list, pages, resource, text } from '../shape.ts';

/** Author and time of a revision; the time is an RFC 3339 text in UTC. */
const CommitUser = resource({ name: text }, { email: text, date: text });

/** A revision of a wiki page. The API spells `commiter` with one `t`. */
const WikiCommit = resource({ sha: text }, { author: CommitUser, commiter: CommitUser, message: text });

const metaData = { html_url: text, last_commit: WikiCommit };
/** `sub_url` is the name of the page in paths: spaces become `-`, everything else is percent-encoded. */
const identity = { title: text, sub_url: text };

export const WikiPageMetaData = resource(identity, metaData);
export type WikiPageMetaData = z.output<typeof WikiPageMetaData>;

export const WikiPage = resource(identity, {
  ...metaData,
  /** Content in base64; empty above 10 MiB. */
  content_base64: text,
  commit_count: int,
  /** Sidebar in base64; empty if there is none. */
  sidebar: text,
  /** Footer in base64; empty if there is none. */
  footer: text,
});
export type WikiPage = z.output<typeof WikiPage>;

/** Title, content in base64, and commit message, which the forge generates if it is empty. */
export const EditWikiPage = z.strictObject({
  title: text.optional(),
  content_base64: text.optional(),
  message: text.optional(),
});
export type EditWikiPage = z.output<typeof EditWikiPage>;

/** A page name with a slash is sent as one segment (`%2F`). */
const atPage = z.object({ ...inRepository, pageName: text });

/** The wiki of a repository: a separate git repository, read and written page by page. */
export const wikiOperations = {
  listWikiPages: defineOperation({
    id: 'wiki.list-pages',
    meaning:
      'Lists the pages of a wiki in git order. Counts and positions include files that are not pages; a limit below 2 means 30.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/pages',
    ...wikiAs('reader'),
    query: z.object(pages),
    success: 200,
    response: list(WikiPageMetaData),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/wiki.go ListWikiPages',
  }),
  getWikiPage: defineOperation({
    id: 'wiki.get-page',
    meaning: 'Returns a page of a wiki with its content, sidebar and footer.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    ...wikiAs('reader'),
    params: atPage,
    success: 200,
    response: WikiPage,
    errors: [404],
    source: 'routers/api/v1/repo/wiki.go GetWikiPage',
  }),
  createWikiPage: defineOperation({
    id: 'wiki.create-page',
    meaning: 'Creates a page; the first one creates the wiki.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/wiki/new',
    ...wikiAs('writer'),
    body: EditWikiPage,
    success: 201,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/wiki.go NewWikiPage',
  }),
  editWikiPage: defineOperation({
    id: 'wiki.edit-page',
    meaning: 'Updates a page, or moves it to another title; an absent title keeps it.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    ...wikiAs('writer'),
    params: atPage,
    body: EditWikiPage,
    success: 200,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    archived: 'before-role',
    baseline: { 'reserved title': 500, 'no such wiki': 500 },
    source: 'routers/api/v1/repo/wiki.go EditWikiPage',
  }),
  deleteWikiPage: defineOperation({
    id: 'wiki.delete-page',
    meaning: 'Deletes a page.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    ...wikiAs('writer'),
    params: atPage,
    success: 204,
    errors: [403, 404, 423],
    archived: 'before-role',
    source: 'routers/api/v1/repo/wiki.go DeleteWikiPage',
  }),
  listWikiRevisions: defineOperation({
    id: 'wiki.list-revisions',
    meaning: 'Lists the commits of a wiki page, newest first; 50 per page, whatever `limit` is.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/revisions/{pageName}',
    ...wikiAs('reader'),
    params: atPage,
    query: z.object({ page: int.optional() }),
    success: 200,
    response: resource({}, { commits: z.array(WikiCommit), count: int }),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/wiki.go ListPageRevisions',
  }),
} as const;
