import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { findRepository } from '../platform/access/guards.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { readBlob } from '../platform/git/tree.ts';
import { webNameIn, webNameOfFile, wikiTitle } from '../wiki/names.ts';
import { findPage, readWiki, type Wiki } from '../wiki/wiki-service.ts';
import { repositoryNav } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit, Show } from './page-handler.ts';

/** Maximum size of a wiki page that is shown; larger ones are only available through the API. */
const shownBytes = 512 * 1024;
/** Maximum pages in the list of pages. */
const shownPages = 1_000;

/** Registers the pages of wikis, which are shown as plain text. */
export function registerWikiPages(app: FastifyInstance, context: ForgeContext, show: Show): void {
  app.get('/:owner/:repo/wiki', (request, reply) =>
    show(request, reply, (visit) => wikiPage(context, visit, 'Home')),
  );
  app.get('/:owner/:repo/wiki/*', (request, reply) =>
    show(request, reply, (visit) => wikiPage(context, visit, webNameIn(visit.names['*']))),
  );
}

async function wikiPage(
  context: ForgeContext,
  { names, caller }: PageVisit,
  webName: string,
): Promise<PageContent> {
  const target = findRepository(context.db, names.owner, names.repo, caller, 'wiki');
  if (target.permission === 'none') throw new ForgeProblem(404, 'not found');
  const { repository, owner } = target;
  const wiki = found(await readWiki(context, repository));
  const entry = found(findPage(wiki, webName));
  const blob = await readBlob(wiki.git, entry.id, shownBytes);
  const home = `/${owner.name}/${repository.name}`;
  const content = html`<pre>${blob?.content?.toString('utf8')}</pre><h2>Pages</h2>${viewPages(wiki, `${home}/wiki`)}`;
  return { title: wikiTitle(webName), content, nav: repositoryNav(context, target, caller) };
}

function viewPages({ entries }: Wiki, base: string): Html {
  const lines = entries
    .slice(0, shownPages)
    .flatMap(({ name }) => webNameOfFile(name) ?? [])
    .map((webName) => html`<li><a href="${base}/${webName}">${wikiTitle(webName)}</a></li>`);
  return html`<ul>${lines}</ul>`;
}
