import fastifyFormbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import { findRepository } from '../access/guards.ts';
import { reaches, readableCondition } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { contentHeaders, type FileAnswer } from '../code/serve-file.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { refuseCrossSiteWrites } from '../http/cross-site.ts';
import { describeApi } from '../http/openapi.ts';
import { readPullDiff } from '../pulls/branches.ts';
import { registerAccountPages } from './accounts.ts';
import { apiPage } from './api.ts';
import { registerFilePages } from './files.ts';
import { createFormGuard } from './forms.ts';
import { registerHookPages } from './hooks.ts';
import { styles } from './page.ts';
import { createForgePageHandler, type PageContent, type PageVisit } from './page-handler.ts';
import { registerReleasePages } from './releases.ts';
import { viewProtections } from './reviews.ts';
import { registerRunnerPages } from './runners.ts';
import { viewIssue, viewRepositories, viewRepository } from './views.ts';
import { registerWikiPages } from './wiki.ts';

/** Registers the pages on which a person sees what is there and what hooks were sent, complete without scripts. */
export async function registerPages(app: FastifyInstance, context: ForgeContext): Promise<void> {
  refuseCrossSiteWrites(app, context);
  const { show, act, sendFile } = createForgePageHandler(context);
  const { db } = context;
  // `clone_url` is also the address of a page, as on the baseline.
  const targetOf = ({ names, caller }: PageVisit) =>
    findRepository(db, names.owner, names.repo.replace(/\.git$/, ''), caller);

  await app.register(fastifyFormbody, { bodyLimit: 4096 });
  app.get('/assets/forge.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(styles));
  app.get('/swagger.v1.json', (_request, reply) => reply.send(describeApi(context.rootUrl())));
  app.get('/api/swagger', (request, reply) => show(request, reply, () => apiPage(context.rootUrl())));
  app.get('/', (request, reply) => show(request, reply, ({ caller }) => frontPage(context, caller)));
  app.get('/:owner/:repo', (request, reply) =>
    show(request, reply, (visit) => {
      const target = targetOf(visit);
      return { title: repositoryTitle(target), content: viewRepository(context, target) };
    }),
  );
  for (const kind of ['issues', 'pulls']) {
    app.get(`/:owner/:repo/${kind}/:id`, (request, reply) =>
      show(request, reply, (visit) => issuePage(context, targetOf(visit), visit)),
    );
  }
  app.get('/:owner/:repo/pulls/:id(\\d+).:kind(diff|patch)', (request, reply) =>
    sendFile(request, reply, (visit) => servePullDiff(context, visit)),
  );
  app.get('/:owner/:repo/settings/branches', (request, reply) =>
    show(request, reply, (visit) => {
      const target = targetOf(visit);
      if (!reaches(target.permission, 'admin')) throw new ForgeProblem(404, 'not found');
      const content = viewProtections(context, target.repository.id);
      return { title: `Protections of ${repositoryTitle(target)}`, content };
    }),
  );
  registerAccountPages(app, context, show);
  registerWikiPages(app, context, show);
  registerFilePages(app, context, { show, sendFile });
  registerReleasePages(app, context, show);
  registerHookPages(app, context, { show, act, guard: createFormGuard() });
  registerRunnerPages(app, context, show);
}

function repositoryTitle({ repository, owner }: RepositoryTarget): string {
  return `${owner.name}/${repository.name}`;
}

function frontPage(context: ForgeContext, caller: UserRow | undefined): PageContent {
  const readable = readableCondition(caller);
  const rows = context.db.all<RepositoryRow & { owner: string }>(
    `SELECT r.*, o.name AS owner FROM repositories r JOIN users o ON o.id = r.owner_id WHERE ${readable.sql}
     ORDER BY r.id DESC LIMIT 50`,
    ...readable.values,
  );
  return { title: 'Repositories', content: viewRepositories(rows) };
}

async function servePullDiff(context: ForgeContext, { names, caller }: PageVisit): Promise<FileAnswer> {
  const target = findRepository(context.db, names.owner, names.repo, caller, 'pulls');
  if (target.permission === 'none') throw new ForgeProblem(404, 'not found');
  const kind = names.kind === 'patch' ? 'patch' : 'diff';
  const text = await readPullDiff(context, { target, number: Number(names.id), kind, binary: false });
  return { status: 200, headers: contentHeaders('text/plain; charset=utf-8'), body: Buffer.from(text) };
}

function issuePage(
  context: ForgeContext,
  target: RepositoryTarget,
  { names, caller }: PageVisit,
): PageContent {
  const sql = 'SELECT * FROM issues WHERE repo_id = ? AND number = ?';
  const issue = found(context.db.get<IssueRow>(sql, target.repository.id, Number(names.id) || 0));
  return { title: `#${issue.number} ${issue.title}`, content: viewIssue(context, issue, caller) };
}
