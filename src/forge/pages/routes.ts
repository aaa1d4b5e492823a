import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reaches, readableCondition } from '../access.ts';
import { createActorReader } from '../actor.ts';
import type { ForgeContext } from '../context.ts';
import { describeApi } from '../description.ts';
import { ForgeProblem, found } from '../errors.ts';
import type { RepositoryTarget } from '../handler.ts';
import { findRepository } from '../lookup.ts';
import { Moved } from '../moved.ts';
import type { HookRow, HookTaskRow, IssueRow, RepositoryRow, UserRow } from '../rows.ts';
import { coversScopes } from '../scopes.ts';
import { type Html, html, page, policy, styles } from './html.ts';
import { viewDeliveries, viewHooks, viewIssue, viewRepositories, viewRepository } from './views.ts';

type Names = { readonly owner: string; readonly repo: string; readonly id: string };
type View = { readonly title: string; readonly content: Html };
type Visit = { readonly names: Names; readonly caller: UserRow | undefined };

/**
 * Registers the pages on which a person sees what is there and what hooks were sent. They only read; who signs in does
 * so with Basic credentials, which a browser asks for.
 */
export function registerPages(app: FastifyInstance, context: ForgeContext): void {
  const show = createShow(context);
  const { db } = context;
  const targetOf = ({ names, caller }: Visit) => findRepository(db, names.owner, names.repo, caller);

  app.get('/assets/forge.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(styles));
  app.get('/swagger.v1.json', (_request, reply) => reply.send(describeApi(context.rootUrl())));
  app.get('/api/swagger', (request, reply) => show(request, reply, () => describePage()));
  app.get('/', (request, reply) => show(request, reply, ({ caller }) => frontPage(context, caller)));
  app.get('/:owner/:repo', (request, reply) =>
    show(request, reply, (visit) => {
      const target = targetOf(visit);
      return { title: titleOf(target), content: viewRepository(context, target) };
    }),
  );
  for (const kind of ['issues', 'pulls']) {
    app.get(`/:owner/:repo/${kind}/:id`, (request, reply) =>
      show(request, reply, (visit) => issuePage(context, targetOf(visit), visit)),
    );
  }
  app.get('/:owner/:repo/settings/hooks', (request, reply) =>
    show(request, reply, (visit) => hooksPage(context, targetOf(visit))),
  );
  app.get('/:owner/:repo/settings/hooks/:id', (request, reply) =>
    show(request, reply, (visit) => deliveriesPage(context, targetOf(visit), visit)),
  );
}

function createShow(context: ForgeContext) {
  const readActor = createActorReader(context);
  return async (request: FastifyRequest, reply: FastifyReply, view: (visit: Visit) => View) => {
    reply.headers({
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    try {
      const { authorization } = request.headers;
      const actor = await readActor({ authorization, queryToken: undefined, sudo: undefined });
      if (actor.scopes && !coversScopes(actor.scopes, ['read:repository', 'read:issue'])) {
        throw new ForgeProblem(403, 'the token does not have the scopes read:repository and read:issue');
      }
      // The router fills in the names of the path, texts all of them.
      const { title, content } = view({ names: request.params as Names, caller: actor.user });
      return reply.type('text/html; charset=utf-8').send(page(title, content));
    } catch (error) {
      return refuse(reply, error);
    }
  };
}

/** What is not there may be there for somebody: nobody is asked who they are. */
function refuse(reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof Moved) return reply.redirect(error.locationOf(reply.request.url), 301);
  if (!(error instanceof ForgeProblem)) throw error;
  const isStranger = error.status === 404 || error.status === 401;
  if (isStranger && !reply.request.headers.authorization) {
    reply.code(401).header('www-authenticate', 'Basic realm="forge", charset="UTF-8"');
  } else reply.code(error.status);
  return reply.type('text/html; charset=utf-8').send(page(error.message || 'forbidden', html``));
}

function titleOf({ repository, owner }: RepositoryTarget): string {
  return `${owner.name}/${repository.name}`;
}

function describePage(): View {
  const link = html`<p>The API is described in <a href="/swagger.v1.json">swagger.v1.json</a> (OpenAPI).</p>`;
  return { title: 'API', content: link };
}

function frontPage(context: ForgeContext, caller: UserRow | undefined): View {
  const readable = readableCondition(caller);
  const rows = context.db.all<RepositoryRow & { owner: string }>(
    `SELECT r.*, o.name AS owner FROM repositories r JOIN users o ON o.id = r.owner_id WHERE ${readable.sql}
     ORDER BY r.id DESC LIMIT 50`,
    ...readable.values,
  );
  return { title: 'Repositories', content: viewRepositories(rows) };
}

function issuePage(context: ForgeContext, target: RepositoryTarget, { names }: Visit): View {
  const sql = 'SELECT * FROM issues WHERE repo_id = ? AND number = ?';
  const issue = found(context.db.get<IssueRow>(sql, target.repository.id, Number(names.id) || 0));
  return { title: `#${issue.number} ${issue.title}`, content: viewIssue(context, issue) };
}

function hooksPage(context: ForgeContext, target: RepositoryTarget): View {
  requireAdministrator(target);
  const sql = 'SELECT * FROM hooks WHERE repo_id = ? ORDER BY id';
  const hooks = context.db.all<HookRow>(sql, target.repository.id);
  return { title: `Hooks of ${titleOf(target)}`, content: viewHooks(titleOf(target), hooks) };
}

function deliveriesPage(context: ForgeContext, target: RepositoryTarget, { names }: Visit): View {
  requireAdministrator(target);
  const deliveries = context.db.all<HookTaskRow>(
    `SELECT t.* FROM hook_tasks t JOIN hooks h ON h.id = t.hook_id WHERE h.repo_id = ? AND h.id = ?
     ORDER BY t.id DESC LIMIT 50`,
    target.repository.id,
    Number(names.id) || 0,
  );
  return { title: `Deliveries of hook ${names.id}`, content: viewDeliveries(deliveries) };
}

function requireAdministrator(target: RepositoryTarget): void {
  if (!reaches(target.permission, 'admin')) throw new ForgeProblem(404, 'not found');
}
