import type { FastifyInstance } from 'fastify';
import { html } from '../../http/html.ts';
import { isVisible, readableCondition } from '../access/permissions.ts';
import { accountNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow } from '../core/rows.ts';
import type { PageContent, PageVisit, Show } from './page-handler.ts';
import { viewRepositories } from './views.ts';

/** Repositories of an account that its page shows; the API has the rest. */
const shown = 50;

/** Registers the page of an account or organization: what it says of itself, and its repositories. */
export function registerAccountPages(app: FastifyInstance, context: ForgeContext, show: Show): void {
  app.get('/:owner', (request, reply) => show(request, reply, (visit) => accountPage(context, visit)));
}

function accountPage({ db }: ForgeContext, { names, caller }: PageVisit): PageContent {
  const account = accountNamed(db, names.owner, caller);
  if (!isVisible(db, account, caller)) throw new ForgeProblem(404, 'not found');
  const readable = readableCondition(caller);
  const rows = db.all<RepositoryRow>(
    `SELECT r.* FROM repositories r JOIN users o ON o.id = r.owner_id
     WHERE r.owner_id = ? AND ${readable.sql} ORDER BY r.lower_name LIMIT ?`,
    account.id,
    ...readable.values,
    shown,
  );
  const repositories = rows.map((row) => ({ ...row, owner: account.name }));
  const content = html`<p>${account.full_name}</p><p>${account.description}</p>
<h2>Repositories</h2>${viewRepositories(repositories)}`;
  return { title: account.name, content };
}
