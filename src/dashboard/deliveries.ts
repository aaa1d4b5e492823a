import { type Html, html } from '../html.ts';
import {
  type Delivery,
  type DeliveryQuery,
  type DeliveryState,
  deliveryStates,
  type Page,
  type Store,
} from '../store/store.ts';
import { instant, table, type View } from './page.ts';
import type { Readings } from './readings.ts';
import type { Viewer } from './viewer.ts';
import type { Visit } from './visits.ts';

const shown = 50;
/** Deliveries that are looked through for one page of somebody who may see few of them. */
const maxLooked = 500;

/** Shows the deliveries that a visitor may see, newest first, narrowed by state and a search. */
export async function deliveriesPage(visit: Visit, { store }: Pick<Readings, 'store'>): Promise<View> {
  const { query, viewer, root } = visit;
  const state = deliveryStates.find((one) => one === query.get('state'));
  const search = (query.get('search') ?? '').trim().slice(0, 200);
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const { items, next } = await visibleTo(viewer, store, {
    ...(state ? { state } : {}),
    ...(search ? { search } : {}),
    ...(before ? { before } : {}),
  });
  const rows = items.map((delivery) => rowOf(delivery, root));
  const older = next && new URLSearchParams({ state: state ?? '', search, before: next }).toString();
  const mayRedrive = state === 'dead' && viewer.isOperator && rows.length > 0;
  const empty = next ? 'None that you may see among these; there are older ones.' : 'There is none.';
  const content = html`${filterForm(root, state, search)}
${mayRedrive ? visit.button('deliveries/dead/run', 'Try all dead ones again') : undefined}
${table(['id', 'received', 'kind', 'about', 'state', 'why'], rows, empty)}
${older ? html`<p><a rel="next" href="${root}deliveries?${older}">Older</a></p>` : undefined}`;
  return { title: 'Deliveries', content };
}

function filterForm(root: string, state: DeliveryState | undefined, search: string): Html {
  const options = deliveryStates.map((one) =>
    one === state
      ? html`<option value="${one}" selected>${one}</option>`
      : html`<option value="${one}">${one}</option>`,
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or id of the forge <input type="search" name="search" value="${search}"></label>
<button>Show</button></form>`;
}

/** Returns a page of what somebody may see; a short one may have a `next` all the same. */
export async function visibleTo(
  viewer: Viewer,
  store: Pick<Store, 'listDeliveries'>,
  query: DeliveryQuery,
): Promise<Page<Delivery>> {
  const limit = shown;
  if (viewer.isOperator) return store.listDeliveries({ ...query, limit });
  const items: Delivery[] = [];
  let before = query.before;
  for (let looked = 0; ; ) {
    const page = await store.listDeliveries({ ...query, limit, ...(before ? { before } : {}) });
    const sights = await Promise.all(page.items.map((delivery) => viewer.sightOf(delivery)));
    items.push(...page.items.filter((_delivery, at) => sights[at] !== 'none'));
    looked += page.items.length;
    before = page.next;
    if (items.length >= limit) {
      const kept = items.slice(0, limit);
      return { items: kept, next: items.length > limit || before ? kept.at(-1)?.id : undefined };
    }
    if (before === undefined || looked >= maxLooked) return { items, next: before };
  }
}

function rowOf(delivery: Delivery, root: string): readonly (Html | string | undefined)[] {
  const { id, receivedAt, eventType, state, reason, copyOf } = delivery;
  return [
    html`<a href="${root}deliveries/${id}">${id}</a>`,
    instant(receivedAt),
    eventType,
    placeOf(delivery),
    stateMark(state),
    copyOf === undefined ? reason : `copy of ${copyOf}`,
  ];
}

/** Returns what a delivery is about: `acme/demo#7`, where its lane is that of one issue or pull request; undefined for none. */
export function placeOf({ repository, lane }: Pick<Delivery, 'repository' | 'lane'>): string | undefined {
  return repository && `${repository}${/#\d+$/.exec(lane ?? '')?.[0] ?? ''}`;
}

/** Returns a state as a mark. */
export function stateMark(state: string): Html {
  return html`<span class="mark ${state}">${state}</span>`;
}
