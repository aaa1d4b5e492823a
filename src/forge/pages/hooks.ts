import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../platform/http/html.ts';
import { redeliverOf } from '../hooks/deliveries.ts';
import type { HookRow } from '../hooks/hooks-rows.ts';
import { findRepository } from '../platform/access/guards.ts';
import { isOrganizationOwner, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { HookTaskRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { repositoryNav } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { Act, FormGuard, PageVisit, Show } from './page-handler.ts';

/** Maximum hooks or deliveries on a page. */
const shown = 50;

/** Owner of the hooks on a page. The page is visible only to accounts that may change the hooks. */
type HooksOwner = {
  readonly title: string;
  /** Path of the page that lists the hooks. */
  readonly path: string;
  readonly column: 'repo_id' | 'owner_id';
  readonly id: number;
  readonly nav?: Html;
};

const ofRepository =
  (context: ForgeContext) =>
  ({ names, caller }: PageVisit): HooksOwner => {
    const { repository, owner, permission } = findRepository(context.db, names.owner, names.repo, caller);
    if (!reaches(permission, 'admin')) throw new ForgeProblem(404, 'not found');
    const title = `${owner.name}/${repository.name}`;
    const nav = repositoryNav(context, { repository, owner }, caller);
    return { title, path: `/${title}/settings/hooks`, column: 'repo_id', id: repository.id, nav };
  };

const ofOrganization =
  (context: ForgeContext) =>
  ({ names, caller }: PageVisit): HooksOwner => {
    const organization = userNamed(context.db, names.org);
    const isOwner = organization && caller && isOrganizationOwner(context.db, organization, caller);
    if (organization?.type !== 'organization' || !isOwner) throw new ForgeProblem(404, 'not found');
    const { name: title, id } = organization;
    return { title, path: `/org/${title}/settings/hooks`, column: 'owner_id', id };
  };

const ofCaller = ({ caller }: PageVisit): HooksOwner => {
  const { name: title, id } = found(caller);
  return { title, path: '/user/settings/hooks', column: 'owner_id', id };
};

/** Registers the pages of hooks and their history, with a button to redeliver. */
export function registerHookPages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, act, guard }: { show: Show; act: Act; guard: FormGuard },
): void {
  const levels = [
    ['/:owner/:repo/settings/hooks', ofRepository(context)],
    ['/org/:org/settings/hooks', ofOrganization(context)],
    ['/user/settings/hooks', ofCaller],
  ] as const;
  for (const [path, holderOf] of levels) {
    app.get(path, (request, reply) => show(request, reply, (visit) => hooksPage(context, holderOf(visit))));
    app.get(`${path}/:id`, (request, reply) =>
      show(request, reply, (visit) => historyPage(context, guard, holderOf(visit), visit)),
    );
    app.post(`${path}/:id/deliveries/:uuid/redeliver`, (request, reply) =>
      act(request, reply, (visit) => {
        const holder = holderOf(visit);
        guard.check(request, visit.caller, visit.names.uuid);
        const hook = hookOf(context, holder, visit.names.id);
        found(redeliverOf(context, hook.id, visit.names.uuid), 'not found');
        return `${holder.path}/${hook.id}`;
      }),
    );
  }
}

function hookOf({ db }: ForgeContext, { column, id }: HooksOwner, text: string): HookRow {
  const hookId = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return found(
    db.get<HookRow>(`SELECT * FROM hooks WHERE id = ? AND ${column} = ?`, hookId, id),
    'not found',
  );
}

function hooksPage({ db }: ForgeContext, holder: HooksOwner): PageContent {
  const sql = `SELECT * FROM hooks WHERE ${holder.column} = ? ORDER BY id LIMIT ?`;
  const lines = db.all<HookRow>(sql, holder.id, shown).map(
    (hook) => html`<tr><td><a href="${holder.path}/${hook.id}">${hook.url}</a></td>
<td class="short">${hook.is_active ? 'active' : 'inactive'}</td><td>${JSON.parse(hook.events).join(', ')}</td></tr>`,
  );
  const content = lines.length > 0 ? html`<table>${lines}</table>` : html`<p>There are no hooks.</p>`;
  return { title: `Hooks of ${holder.title}`, content, ...navOf(holder) };
}

/** Shows the deliveries of a hook, newest first: request, response, and the original of a redelivery. */
function historyPage(
  context: ForgeContext,
  guard: FormGuard,
  holder: HooksOwner,
  visit: PageVisit,
): PageContent {
  const hook = hookOf(context, holder, visit.names.id);
  const entries = context.deliveries.list(hook.id, shown).map((delivery) =>
    viewDelivery(delivery, {
      action: `${holder.path}/${hook.id}/deliveries/${delivery.uuid}/redeliver`,
      mark: guard.csrfToken(visit.caller, delivery.uuid),
      maySeePrivate: visit.caller?.is_admin === 1,
    }),
  );
  const content = html`<p><a href="${holder.path}">All hooks</a></p><p>${hook.url}, ${hook.is_active ? 'active' : 'inactive'}</p>
${entries.length > 0 ? entries : html`<p>No deliveries yet.</p>`}`;
  return { title: `Deliveries of hook ${hook.id} of ${holder.title}`, content, ...navOf(holder) };
}

function navOf({ nav }: HooksOwner): Pick<PageContent, 'nav'> {
  return nav === undefined ? {} : { nav };
}

function viewDelivery(
  delivery: HookTaskRow,
  form: { readonly action: string; readonly mark: string; readonly maySeePrivate: boolean },
): Html {
  // An account that may add hooks must not use the forge to read responses of hosts that only the forge can reach.
  const answer =
    delivery.is_answer_private === 1 && !form.maySeePrivate
      ? html`<p>Only site administrators see the answer of an address that is not public.</p>`
      : html`<pre>${delivery.response_headers}</pre><pre>${delivery.response_body}</pre>`;
  const again = delivery.again_of && html`<p>Sent again: repeats <code>${delivery.again_of}</code></p>`;
  const isOver = delivery.state === 'delivered' || delivery.state === 'failed';
  const button = html`<form method="post" action="${form.action}">
<input type="hidden" name="mark" value="${form.mark}"><button>Send again</button></form>`;
  return html`<article id="${delivery.uuid}"><h2>${delivery.event_type}: ${delivery.state}
${delivery.response_status || ''}</h2>
<p><code>${delivery.uuid}</code>, ${toInstant(delivery.created_at)}</p>${again || undefined}
${isOver ? button : undefined}
<details><summary>Request and answer</summary><h3>Headers sent</h3><pre>${delivery.request_headers}</pre>
<h3>Payload</h3><pre>${delivery.payload}</pre>
<h3>Answer</h3>${answer}</details></article>`;
}
