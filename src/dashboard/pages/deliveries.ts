import { type Html, html } from '../../http/html.ts';
import {
  type Delivery,
  type DeliveryState,
  deliveryStates,
  type Page,
  type Store,
} from '../../store/store.ts';
import type { DashboardData } from '../data.ts';
import { type PageView, table, timeTag } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import type { DeliveryAccess, Viewer } from '../viewer.ts';

const shown = 50;
/** Deliveries that are read for one page of a viewer who may see few of them. */
const maxLooked = 200;

/** Shows the deliveries that a visitor may see, newest first, narrowed by state and a search. */
export async function deliveriesPage(
  pageRequest: PageRequest,
  { store }: Pick<DashboardData, 'store'>,
): Promise<PageView> {
  const { query, viewer, root } = pageRequest;
  const state = deliveryStates.find((one) => one === query.get('state'));
  const search = (query.get('search') ?? '').trim().slice(0, 200);
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const asked = { ...(state ? { state } : {}), ...(search ? { search } : {}), ...(before ? { before } : {}) };
  const { items, next, unknown } = viewer.isOperator
    ? { ...(await store.listDeliveries({ ...asked, limit: shown })), unknown: 0 }
    : await visibleTo(viewer, store, asked);
  const rows = items.map((delivery) => rowOf(delivery, root));
  const older = next && new URLSearchParams({ state: state ?? '', search, before: next }).toString();
  const mayRedrive = state === 'dead' && search === '' && viewer.isOperator && rows.length > 0;
  const empty = next ? 'None that you may see among these; there are older ones.' : 'There is none.';
  const content = html`${filterForm(root, state, search)}
${mayRedrive ? pageRequest.button('deliveries/dead/run', 'Try all dead ones again') : undefined}
${table(['id', 'received', 'kind', 'subject', 'state', 'reason'], rows, empty)}
${unknown > 0 ? html`<p role="alert">Of ${unknown} the forge did not say whether you may see them.</p>` : undefined}
${older ? html`<p><a rel="next" href="${root}deliveries?${older}">Older</a></p>` : undefined}`;
  return { title: 'Deliveries', content };
}

type DeliveryFilter = { readonly state?: DeliveryState; readonly search?: string; readonly before?: string };
type Visible = Page<Delivery> & { readonly unknown: number };

/**
 * Returns a page of what a viewer may see; a short one may have a `next` all the same. Nothing of it depends on what they
 * may not see: a fixed stretch is looked through, and what is searched for is held against what is visible alone. Who names a
 * repository in full gets a stretch of that one, where they may read it.
 */
async function visibleTo(
  viewer: Viewer,
  store: Pick<Store, 'listDeliveries'>,
  { state, search = '', before }: DeliveryFilter,
): Promise<Visible> {
  const repositoryId = search.includes('/') ? await viewer.findRepository(search) : undefined;
  const stretch = await store.listDeliveries({
    limit: maxLooked,
    ...(before === undefined ? {} : { before }),
    ...(repositoryId === undefined ? {} : { repositoryId }),
  });
  const accesses = await Promise.all(stretch.items.map((delivery) => viewer.accessTo(delivery)));
  const isWanted = (delivery: Delivery): boolean =>
    (state === undefined || delivery.state === state) && isFoundBy(delivery, search);
  const visible = stretch.items.filter((delivery, at) => isSeen(accesses[at]) && isWanted(delivery));
  const items = visible.slice(0, shown);
  return {
    items,
    next: visible.length > shown ? items.at(-1)?.id : stretch.next,
    unknown: accesses.filter((access) => access === 'unknown').length,
  };
}

function isSeen(access: DeliveryAccess | undefined): boolean {
  return access === 'reader' || access === 'administrator';
}

function isFoundBy({ eventType, repository = '', uuid }: Delivery, search: string): boolean {
  const text = search.toLowerCase();
  return [eventType, repository, uuid].some((one) => one.toLowerCase().includes(text));
}

function filterForm(root: string, state: DeliveryState | undefined, search: string): Html {
  const options = deliveryStates.map((one) =>
    one === state
      ? html`<option value="${one}" selected>${one}</option>`
      : html`<option value="${one}">${one}</option>`,
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or delivery UUID <input type="search" name="search" value="${search}"></label>
<button>Show</button></form>`;
}

function rowOf(delivery: Delivery, root: string): readonly (Html | string | undefined)[] {
  const { id, receivedAt, eventType, state } = delivery;
  return [
    html`<a href="${root}deliveries/${id}">${id}</a>`,
    timeTag(receivedAt),
    eventType,
    formatSubject(delivery),
    stateMark(state),
    whyOf(delivery),
  ];
}

/** Returns why a delivery is as it is: the reason as recorded, or which other one it copies or repeats. */
function whyOf({ reason, copyOf, repeatOf }: Delivery): string | undefined {
  if (copyOf !== undefined) return `copy of ${copyOf}`;
  return reason ?? (repeatOf === undefined ? undefined : `repeated: the same as ${repeatOf}`);
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
