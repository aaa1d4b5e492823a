import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { inRepository, int, list, pages, resource, text } from '../shape.ts';

/** Who wrote a revision, and when: RFC 3339 text in UTC. */
const CommitUser = resource({ name: text }, { email: text, date: text });

/** A revision of a wiki page. `commiter` is spelled so on the wire. */
const WikiCommit = resource({ sha: text }, { author: CommitUser, commiter: CommitUser, message: text });

const metaData = { html_url: text, last_commit: WikiCommit };
/** `sub_url` is what a path names the page by: spaces as `-`, everything else percent-encoded. */
const identity = { title: text, sub_url: text };

export const WikiPageMetaData = resource(identity, metaData);
export type WikiPageMetaData = z.output<typeof WikiPageMetaData>;

export const WikiPage = resource(identity, {
  ...metaData,
  /** Base64; empty above 10 MiB. */
  content_base64: text,
  commit_count: int,
  /** Base64, too; empty where there is none. */
  sidebar: text,
  /** Base64, too; empty where there is none. */
  footer: text,
});
export type WikiPage = z.output<typeof WikiPage>;

/** Title, content in base64 and the commit's message, which the forge makes up where it is empty. */
export const EditWikiPage = z.strictObject({
  title: text.optional(),
  content_base64: text.optional(),
  message: text.optional(),
});
export type EditWikiPage = z.output<typeof EditWikiPage>;

/** A name with a slash goes as one segment (`%2F`). */
const atPage = z.object({ ...inRepository, pageName: text });

/** The wiki of a repository: a git repository of its own, read and written page by page. */
export const wikiOperations = {
  listWikiPages: defineOperation({
    id: 'wiki.list-pages',
    meaning:
      'The pages of a wiki in git order. Counts and positions include files that are no pages; a limit below 2 means 30.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/pages',
    params: z.object(inRepository),
    query: z.object(pages),
    success: 200,
    response: list(WikiPageMetaData),
    errors: [404],
    access: 'reader',
    scopes: ['repository'],
    paging: 'link',
    source: 'routers/api/v1/repo/wiki.go ListWikiPages',
  }),
  getWikiPage: defineOperation({
    id: 'wiki.get-page',
    meaning: 'One page of a wiki with its content, sidebar and footer.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    params: atPage,
    success: 200,
    response: WikiPage,
    errors: [404],
    access: 'reader',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/wiki.go GetWikiPage',
  }),
  createWikiPage: defineOperation({
    id: 'wiki.create-page',
    meaning: 'Writes a new page; the first one makes the wiki.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/wiki/new',
    params: z.object(inRepository),
    body: EditWikiPage,
    success: 201,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    access: 'writer',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/wiki.go NewWikiPage',
  }),
  editWikiPage: defineOperation({
    id: 'wiki.edit-page',
    meaning: 'Writes a page again, or moves it to another title; an absent title keeps it.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    params: atPage,
    body: EditWikiPage,
    success: 200,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    access: 'writer',
    scopes: ['repository'],
    baseline: { 'reserved title': 500, 'no such wiki': 500 },
    source: 'routers/api/v1/repo/wiki.go EditWikiPage',
  }),
  deleteWikiPage: defineOperation({
    id: 'wiki.delete-page',
    meaning: 'Removes a page.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
    params: atPage,
    success: 204,
    errors: [403, 404, 423],
    access: 'writer',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/wiki.go DeleteWikiPage',
  }),
  listWikiRevisions: defineOperation({
    id: 'wiki.list-revisions',
    meaning: 'The commits that wrote a page, newest first; 50 a page whatever `limit` says.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/wiki/revisions/{pageName}',
    params: atPage,
    query: z.object({ page: int.optional() }),
    success: 200,
    response: resource({}, { commits: z.array(WikiCommit), count: int }),
    errors: [404],
    access: 'reader',
    scopes: ['repository'],
    paging: 'count',
    source: 'routers/api/v1/repo/wiki.go ListPageRevisions',
  }),
} as const;
