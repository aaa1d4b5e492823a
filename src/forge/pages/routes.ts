import fastifyFormbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import { html } from '../../platform/http/html.ts';
import { reaches, readableCondition } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow } from '../core/rows.ts';
import { refuseCrossSiteWrites } from '../http/cross-site.ts';
import { describeApi } from '../http/openapi.ts';
import { registerAccountPages } from './accounts.ts';
import { apiPage } from './api.ts';
import { registerCommitPages } from './commits.ts';
import { registerFilePages } from './files.ts';
import { createFormGuard } from './forms.ts';
import { registerHookPages } from './hooks.ts';
import { registerIssuePages } from './issues.ts';
import {
  enterRepository,
  homeOf,
  pageNumberOf,
  pagingLinks,
  repositoryNav,
  shownLines,
} from './navigation.ts';
import { type PageContent, styles } from './page.ts';
import { createForgePageHandler, type PageVisit } from './page-handler.ts';
import { registerNewPullPages } from './pulls.ts';
import { registerReleasePages } from './releases.ts';
import { viewProtections } from './reviews.ts';
import { registerRunnerPages } from './runners.ts';
import { repositoryPage, viewRepositories } from './views.ts';
import { registerWikiPages } from './wiki.ts';

/** Registers the pages on which a person sees what is there and what hooks were sent, complete without scripts. */
export async function registerPages(app: FastifyInstance, context: ForgeContext): Promise<void> {
  refuseCrossSiteWrites(app, context);
  const { show, act, sendFile } = createForgePageHandler(context);
  await app.register(fastifyFormbody, { bodyLimit: 65_536 });
  app.get('/assets/forge.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(styles));
  app.get('/swagger.v1.json', (_request, reply) => reply.send(describeApi(context.rootUrl())));
  app.get('/api/swagger', (request, reply) => show(request, reply, () => apiPage(context.rootUrl())));
  app.get('/', (request, reply) => show(request, reply, (visit) => frontPage(context, visit)));
  // Without this address a browser would look for an account of that name, and ask for its credentials.
  app.get('/favicon.ico', (_request, reply) => reply.code(204).send());
  app.get('/:owner/:repo', (request, reply) =>
    show(request, reply, (visit) => repositoryPage(context, visit)),
  );
  app.get('/:owner/:repo/settings/branches', (request, reply) =>
    show(request, reply, (visit) => {
      const target = enterRepository(context, visit);
      if (!reaches(target.permission, 'admin')) throw new ForgeProblem(404, 'not found');
      const content = viewProtections(context, target.repository.id);
      const nav = repositoryNav(context, target, visit.caller);
      return { title: `Protections of ${homeOf(target).slice(1)}`, content, nav };
    }),
  );
  registerAccountPages(app, context, show);
  registerWikiPages(app, context, show);
  registerFilePages(app, context, { show, sendFile });
  registerReleasePages(app, context, show);
  const guard = createFormGuard();
  registerHookPages(app, context, { show, act, guard });
  registerNewPullPages(app, context, { show, act, guard });
  registerIssuePages(app, context, { show, sendFile });
  registerCommitPages(app, context, { show, sendFile });
  registerRunnerPages(app, context, show);
}

function frontPage(context: ForgeContext, visit: PageVisit): PageContent {
  const readable = readableCondition(visit.caller);
  const number = pageNumberOf(visit);
  const rows = context.db.all<RepositoryRow & { owner: string }>(
    `SELECT r.*, o.name AS owner FROM repositories r JOIN users o ON o.id = r.owner_id WHERE ${readable.sql}
     ORDER BY r.id DESC LIMIT ? OFFSET ?`,
    ...readable.values,
    shownLines + 1,
    (number - 1) * shownLines,
  );
  const paging = pagingLinks('/', { number, hasNext: rows.length > shownLines });
  return { title: 'Repositories', content: html`${viewRepositories(rows.slice(0, shownLines))}${paging}` };
}
