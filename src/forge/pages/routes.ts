import fastifyFormbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { html } from '../../platform/http/html.ts';
import { isVisible, reaches, readableCondition } from '../platform/access/permissions.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { refuseCrossSiteWrites } from '../platform/http/cross-site.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import { registerCommitPages } from './commits.ts';
import { registerFilePages } from './files.ts';
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
import { describeApi } from './openapi.ts';
import { type PageContent, styles } from './page.ts';
import { createForgePageHandler, createFormGuard, type PageVisit, type Show } from './page-handler.ts';
import { registerNewPullPages, viewProtections } from './pulls.ts';
import { registerReleasePages } from './releases.ts';
import { registerRunnerPages } from './runners.ts';
import { repositoryPage, viewRepositories } from './views.ts';
import { registerWikiPages } from './wiki.ts';

/** Registers the web pages, which show repositories and webhook deliveries and work without scripts. */
export async function registerPages(app: FastifyInstance, context: ForgeContext): Promise<void> {
  refuseCrossSiteWrites(app, context);
  const { show, act, sendFile } = createForgePageHandler(context);
  await app.register(fastifyFormbody, { bodyLimit: 65_536 });
  app.get('/assets/forge.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(styles));
  app.get('/swagger.v1.json', (_request, reply) => reply.send(describeApi(context.rootUrl())));
  app.get('/api/swagger', (request, reply) => show(request, reply, () => apiPage(context.rootUrl())));
  app.get('/', (request, reply) => show(request, reply, (visit) => frontPage(context, visit)));
  // Without this route, the forge would look for an account named `favicon.ico`, and the browser would prompt for
  // credentials.
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

/** Registers the page of an account or organization, which shows its profile and its repositories. */
function registerAccountPages(app: FastifyInstance, context: ForgeContext, show: Show): void {
  app.get('/:owner', (request, reply) => show(request, reply, (visit) => accountPage(context, visit)));
}

function accountPage({ db }: ForgeContext, visit: PageVisit): PageContent {
  const { names, caller } = visit;
  const number = pageNumberOf(visit);
  const account = accountNamed(db, names.owner, caller);
  if (!isVisible(db, account, caller)) throw new ForgeProblem(404, 'not found');
  const readable = readableCondition(caller);
  const rows = db.all<RepositoryRow>(
    `SELECT r.* FROM repositories r JOIN users o ON o.id = r.owner_id
     WHERE r.owner_id = ? AND ${readable.sql} ORDER BY r.lower_name LIMIT ? OFFSET ?`,
    account.id,
    ...readable.values,
    shownLines + 1,
    (number - 1) * shownLines,
  );
  const paging = pagingLinks(`/${account.name}`, { number, hasNext: rows.length > shownLines });
  const repositories = rows.slice(0, shownLines).map((row) => ({ ...row, owner: account.name }));
  const content = html`<p>${account.full_name}</p><p>${account.description}</p>
<h2>Repositories</h2>${viewRepositories(repositories)}${paging}`;
  return { title: account.name, content };
}

/** Shows every operation of the API for human readers, one entry each; programs use the JSON description. */
function apiPage(rootUrl: string): PageContent {
  const rows = Object.values<Operation>(operations).toSorted((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const entries = rows.map(
    (
      row,
    ) => html`<details id="${row.id}"><summary><code>${row.method} ${row.path}</code> ${row.meaning}</summary>
<p>For: ${row.access}. Token scopes: ${row.scopes.join(', ') || 'none'}. Answers ${row.success};
refuses with ${row.errors.join(', ') || 'nothing of its own'}.
${row.paging ? 'A paged list: page, limit.' : undefined}</p>
${row.query ? html`<p>Query: ${Object.keys(row.query.shape).join(', ')}</p>` : undefined}
${row.body && 'shape' in row.body ? html`<p>Body: ${Object.keys(row.body.shape as object).join(', ')}</p>` : undefined}
</details>`,
  );
  const content = html`<p>Address: <code>${rootUrl}/api/v1</code>. For programs:
<a href="/swagger.v1.json">swagger.v1.json</a> (OpenAPI).</p>${entries}`;
  return { title: 'API', content };
}
