import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { findRepository } from '../platform/access/guards.ts';
import { isOrganizationOwner, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { listRunners, type RunnerHolder, type RunnerRow, toRunner } from '../workflows/runners-service.ts';
import { repositoryNav } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { PageVisit, Show } from './page-handler.ts';

/** Maximum runners on a page; the API has the rest. */
const shown = 500;

/** Registers the runner lists of a repository, an organization, the caller, and the whole instance. */
export function registerRunnerPages(app: FastifyInstance, context: ForgeContext, show: Show): void {
  const { db } = context;
  const page = (
    path: string,
    holderOf: (visit: PageVisit) => { title: string; holder: RunnerHolder; nav?: Html },
  ): void => {
    app.get(path, (request, reply) =>
      show(request, reply, (visit): PageContent => {
        const { title, holder, nav } = holderOf(visit);
        const content = viewRunners(context, holder);
        return { title: `Runners of ${title}`, content, ...(nav && { nav }) };
      }),
    );
  };
  page('/:owner/:repo/settings/actions/runners', ({ names, caller }) => {
    const { repository, owner, permission } = findRepository(db, names.owner, names.repo, caller);
    if (!reaches(permission, 'owner')) throw new ForgeProblem(404, 'not found');
    const nav = repositoryNav(context, { repository, owner }, caller);
    return {
      title: `${owner.name}/${repository.name}`,
      holder: { column: 'repo_id', id: repository.id },
      nav,
    };
  });
  page('/org/:org/settings/actions/runners', ({ names, caller }) => {
    const organization = userNamed(db, names.org);
    const isOwner = organization && caller && isOrganizationOwner(db, organization, caller);
    if (organization?.type !== 'organization' || !isOwner) throw new ForgeProblem(404, 'not found');
    return { title: organization.name, holder: { column: 'owner_id', id: organization.id } };
  });
  page('/user/settings/actions/runners', ({ caller }) => {
    const { name, id } = found(caller);
    return { title: name, holder: { column: 'owner_id', id } };
  });
  page('/-/admin/actions/runners', ({ caller }) => {
    if (!caller?.is_admin) throw new ForgeProblem(404, 'not found');
    return { title: 'this instance', holder: { column: 'all' } };
  });
}

function viewRunners(context: ForgeContext, holder: RunnerHolder): Html {
  const { runners, total } = listRunners(context, holder, { limit: shown, offset: 0 });
  const lines = runners.map((row) => viewRunner(context, row));
  return html`<p>${total} in all</p><table>
<tr><th>Name</th><th>State</th><th>Takes jobs</th><th>Labels</th><th>Of</th></tr>${lines}</table>`;
}

function viewRunner(context: ForgeContext, row: RunnerRow): Html {
  const { name, status, busy, disabled, ephemeral, labels } = toRunner(row, context.clock());
  const takes = disabled ? 'no' : ephemeral ? 'one, then it is gone' : 'yes';
  return html`<tr><td>${name}</td><td>${busy ? 'online, busy' : status}</td><td>${takes}</td>
<td>${labels.map((label) => html`<span class="label">${label.name}</span> `)}</td><td>${runnerLevel(context, row)}</td></tr>`;
}

function runnerLevel({ db }: ForgeContext, row: RunnerRow): string {
  if (row.repo_id !== null) {
    const sql = `SELECT o.name || '/' || r.name AS name FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.id = ?`;
    return db.get<{ name: string }>(sql, row.repo_id)?.name ?? '';
  }
  if (row.owner_id === null) return 'the instance';
  return db.get<{ name: string }>('SELECT name FROM users WHERE id = ?', row.owner_id)?.name ?? '';
}
