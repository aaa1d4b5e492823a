import type { FastifyInstance } from 'fastify';
import { html } from '../../platform/http/html.ts';
import { isVisible, readableCondition } from '../access/permissions.ts';
import { accountNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow } from '../core/rows.ts';
import { pageNumberOf, pagingLinks, shownLines } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit, Show } from './page-handler.ts';
import { viewRepositories } from './views.ts';

/** Registers the page of an account or organization: what it says of itself, and its repositories. */
export function registerAccountPages(app: FastifyInstance, context: ForgeContext, show: Show): void {
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
