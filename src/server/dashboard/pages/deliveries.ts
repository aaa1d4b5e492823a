import { type Html, html } from '../../../platform/http/html.ts';
import {
  type Delivery,
  type DeliveryQuery,
  type DeliveryState,
  deliveryStates,
  type Page,
  type Store,
} from '../../../store/store.ts';
import type { DashboardData } from '../data.ts';
import { deliveryLink, subjectLink } from '../links.ts';
import { markIds, type TableCell, table } from '../look/table.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import type { Viewer } from '../viewer.ts';
import { resolveAccess } from '../visibility.ts';
import { summarizeRun, viewOutcome } from './outcome.ts';

const shown = 50;
/** Deliveries that are read for one page of a viewer who may see few of them. */
const maxLooked = 200;

/** What a list shows: events of the forge, internal jobs (sweeps, maintenance), or both. */
const doors = { events: 'webhook', jobs: 'job', all: undefined } as const;
type Shown = keyof typeof doors;

/** Shows the deliveries that a visitor may see, newest first, narrowed by kind, state and a search. */
export async function deliveriesPage(
  pageRequest: PageRequest,
  { store }: Pick<DashboardData, 'store'>,
): Promise<PageView> {
  const { query, viewer, root } = pageRequest;
  const state = deliveryStates.find((one) => one === query.get('state'));
  const search = (query.get('search') ?? '').trim().slice(0, 200);
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const show = shownOf(query, state);
  const door = doors[show];
  const asked = {
    ...(door ? { door } : {}),
    ...(state ? { state } : {}),
    ...(search ? { search } : {}),
    ...(before ? { before } : {}),
  };
  const { items, next, unknown } = viewer.isOperator
    ? await visibleToOperators(store, asked)
    : await visibleTo(viewer, store, asked);
  const rows = await deliveryRows(items, store, pageRequest);
  const filter = { show, state: state ?? '', search };
  const older = next && new URLSearchParams({ ...filter, before: next }).toString();
  const mayRedrive =
    state === 'dead' && show === 'all' && search === '' && viewer.isOperator && rows.length > 0;
  const empty = next ? 'You may see none of these; there are older ones.' : 'No delivery.';
  const content = html`${viewer.isOperator ? kindTabs(root, filter) : undefined}
${filterForm(root, filter)}
${mayRedrive ? pageRequest.button('deliveries/dead/run', 'Try all dead ones again') : undefined}
${table(['outcome', 'event', 'about', 'received', 'id'], rows, empty)}
${unknown > 0 ? html`<p role="alert">Of ${unknown} the forge did not say whether you may see them.</p>` : undefined}
${older ? html`<p><a rel="next" href="${root}deliveries?${older}">Older</a></p>` : undefined}`;
  return { title: 'Deliveries', content };
}

/** A list of a state, as the overview counts it, holds jobs too; otherwise jobs are asked for. */
function shownOf(query: URLSearchParams, state: DeliveryState | undefined): Shown {
  const asked = query.get('show') ?? '';
  if (asked in doors) return asked as Shown;
  return state === undefined ? 'events' : 'all';
}

type Seen = { readonly delivery: Delivery; readonly access: 'reader' | 'administrator' };

type DeliveryFilter = Pick<DeliveryQuery, 'door' | 'state' | 'search' | 'before'>;
type Visible = Page<Seen> & { readonly unknown: number };

async function visibleToOperators(
  store: Pick<Store, 'listDeliveries'>,
  filter: DeliveryFilter,
): Promise<Visible> {
  const { items, next } = await store.listDeliveries({ ...filter, limit: shown });
  return { items: items.map((delivery) => ({ delivery, access: 'administrator' })), next, unknown: 0 };
}

/**
 * Returns a page of what a viewer may see; a short one may have a `next` all the same. Nothing of it depends on what they
 * may not see: a fixed stretch is looked through, and what is searched for is held against what is visible alone. Who names a
 * repository in full gets a stretch of that one, where they may read it.
 */
async function visibleTo(
  viewer: Viewer,
  store: Pick<Store, 'listDeliveries'>,
  { door, state, search = '', before }: DeliveryFilter,
): Promise<Visible> {
  const repositoryId = search.includes('/') ? await viewer.findRepository(search) : undefined;
  const stretch = await store.listDeliveries({
    limit: maxLooked,
    ...(before === undefined ? {} : { before }),
    ...(repositoryId === undefined ? {} : { repositoryId }),
  });
  const accesses = await Promise.all(stretch.items.map((delivery) => viewer.accessTo(delivery)));
  const isWanted = (delivery: Delivery): boolean =>
    (state === undefined || delivery.state === state) &&
    (door === undefined || (delivery.door === 'webhook') === (door === 'webhook')) &&
    isFoundBy(delivery, search);
  const visible = stretch.items.flatMap((delivery, at): readonly Seen[] => {
    const access = accesses[at];
    const isSeen = access === 'reader' || access === 'administrator';
    return isSeen && isWanted(delivery) ? [{ delivery, access }] : [];
  });
  const items = visible.slice(0, shown);
  return {
    items,
    next: visible.length > shown ? items.at(-1)?.delivery.id : stretch.next,
    unknown: accesses.filter((access) => access === 'unknown').length,
  };
}

function isFoundBy({ eventType, repository = '', uuid }: Delivery, search: string): boolean {
  const text = search.toLowerCase();
  return [eventType, repository, uuid].some((one) => one.toLowerCase().includes(text));
}

type ListFilter = { readonly show: Shown; readonly state: string; readonly search: string };

const tabWords: Readonly<Record<Shown, string>> = {
  events: 'Events of the forge',
  jobs: 'Internal jobs',
  all: 'All',
};

function kindTabs(root: string, filter: ListFilter): Html {
  const tabs = (Object.keys(doors) as readonly Shown[]).map((show) => {
    const to = new URLSearchParams({ ...filter, show }).toString();
    const current = show === filter.show ? html` aria-current="true"` : undefined;
    return html`<li><a href="${root}deliveries?${to}"${current}>${tabWords[show]}</a></li>`;
  });
  return html`<ul class="tabs">${tabs}</ul>`;
}

function filterForm(root: string, { show, state, search }: ListFilter): Html {
  const options = deliveryStates.map((one) =>
    one === state
      ? html`<option value="${one}" selected>${one}</option>`
      : html`<option value="${one}">${one}</option>`,
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<input type="hidden" name="show" value="${show}">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or delivery UUID <input type="search" name="search" value="${search}"></label>
<button>Show</button></form>`;
}

async function deliveryRows(
  items: readonly Seen[],
  store: Pick<Store, 'readLatestRuns'>,
  pageRequest: PageRequest,
): Promise<readonly (readonly TableCell[])[]> {
  const { root, time, forgeUrl, viewer } = pageRequest;
  // The newest run of a sweep’s job is one of its items, and says nothing of the whole.
  const ids = items.filter(({ delivery }) => delivery.door === 'webhook').map(({ delivery }) => delivery.id);
  const runs = await store.readLatestRuns(ids);
  return Promise.all(
    items.map(async (seen) => {
      const { delivery } = seen;
      const run = runs.get(delivery.id);
      const outcome =
        delivery.state === 'settled' && run !== undefined
          ? html`${viewOutcome(summarizeRun(run, await resolveAccess(viewer, seen)), `${root}deliveries/${delivery.id}`)}${repeatNote(delivery, root)}`
          : viewState(delivery, pageRequest);
      return [
        outcome,
        delivery.eventType,
        subjectLink(forgeUrl, delivery),
        time(delivery.receivedAt),
        deliveryLink(delivery.id, root),
      ];
    }),
  );
}

/** Returns what became of a delivery without a run: its state with the reason, or which other one it copies or repeats. */
function viewState(
  { id, state, door, reason, retryAt, copyOf, repeatOf }: Delivery,
  { root, time }: PageRequest,
): Html {
  const isIgnored = state === 'settled' && door === 'webhook';
  const word = isIgnored ? 'ignored' : state;
  const mark = html`<a href="${root}deliveries/${id}"><span class="mark ${word}">${word}</span></a>`;
  if (copyOf !== undefined) return html`${mark} copy of ${deliveryLink(copyOf, root)}`;
  const isWaiting = (state === 'retry' || state === 'deferred') && retryAt !== undefined;
  const next = isWaiting ? html`<div>next attempt ${time(retryAt)}</div>` : undefined;
  const why = reason === undefined ? repeatNote({ repeatOf }, root) : markIds(reason);
  return html`<div class="outcome">${mark} ${why}${next}</div>`;
}

function repeatNote({ repeatOf }: Pick<Delivery, 'repeatOf'>, root: string): Html | undefined {
  if (repeatOf === undefined) return undefined;
  return html`<div class="muted">repeated: the same as ${deliveryLink(repeatOf, root)}</div>`;
}

/** Returns what a delivery is about: `acme/demo#7`, where its lane is that of one issue or pull request; undefined for none. */
export function formatSubject({
  repository,
  lane,
}: Pick<Delivery, 'repository' | 'lane'>): string | undefined {
  return repository && `${repository}${/#\d+$/.exec(lane ?? '')?.[0] ?? ''}`;
}

export function stateMark(state: string): Html {
  return html`<span class="mark ${state}">${state}</span>`;
}
