import { parsePayload } from '../../contract/events/parse-payload.ts';
import { type Html, html } from '../../http/html.ts';
import type { Delivery, DeliveryWithBody, Store } from '../../store/store.ts';
import { type PageView, timeTag } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import type { DeliveryAccess } from '../viewer.ts';
import { resolveAccess } from '../visibility.ts';
import { formatSubject, stateMark } from './deliveries.ts';
import { viewRun } from './run-view.ts';

/** Bytes of a payload that a page shows; the rest comes by its link. */
const maxShownBytes = 256 * 1024;
/** Runs of one delivery that a page shows: a redriven one has several, a sweep’s job very many. */
const maxRuns = 20;

/** Returns a delivery that a visitor may see, without its body, and how much of it; undefined where there is none for them. */
export async function findDelivery(
  { viewer, params }: Pick<PageRequest, 'viewer' | 'params'>,
  store: Pick<Store, 'describeDelivery'>,
  id = params.id ?? '',
): Promise<{ delivery: Delivery; access: 'reader' | 'administrator' } | undefined> {
  const delivery = await store.describeDelivery(id);
  if (delivery === undefined) return undefined;
  const access = await viewer.accessTo(delivery);
  return access === 'reader' || access === 'administrator' ? { delivery, access } : undefined;
}

/** Shows one delivery: what came, what each rule said of it and why, and what was done. */
export async function deliveryPage(
  visit: PageRequest,
  { store }: { store: Pick<Store, 'describeDelivery' | 'readDelivery' | 'listRuns'> },
): Promise<PageView | undefined> {
  const { root, viewer } = visit;
  const found = await findDelivery(visit, store);
  if (found === undefined) return undefined;
  const { delivery, access } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const viewerAccess = await resolveAccess(viewer, found);
  const runs = items.map(
    (run) => html`<section><h2>Run of ${timeTag(run.trigger.at)}</h2>${viewRun(run, viewerAccess)}</section>`,
  );
  const whole = access === 'administrator' ? await store.readDelivery(delivery.id) : undefined;
  const content = html`${aboutDelivery(delivery)}
${canRedrive(delivery, access) ? visit.button(`deliveries/${delivery.id}/run`, 'Run it again') : undefined}
${runs.length > 0 ? runs : html`<p>No rule was asked: there is no run of it.</p>`}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : undefined}
${whole && viewPayload(whole, root)}`;
  const place = formatSubject(delivery);
  const what = place ? `${delivery.eventType} in ${place}` : delivery.eventType;
  return { title: `Delivery ${delivery.id}: ${what}`, content };
}

/** Administrators of a repository may run its deliveries again; a sweep continues by itself. */
export function canRedrive({ state, door }: Delivery, access: DeliveryAccess): boolean {
  const hasEnded = state === 'dead' || (state === 'settled' && door === 'webhook');
  return hasEnded && access === 'administrator';
}

function aboutDelivery(delivery: Delivery): Html {
  const { state, reason, redrivenAt, redrivenBy, retryAt, copyOf, repeatOf } = delivery;
  const about: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['State', stateMark(state)],
    ['Why', reason],
    ['Received', timeTag(delivery.receivedAt)],
    ['By', delivery.door],
    ['Kind', delivery.eventType],
    ['Repository', delivery.repository],
    ['Id of the forge', delivery.door === 'webhook' ? delivery.uuid : undefined],
    ['Vouched for by', delivery.entry || undefined],
    ['Type', delivery.contentType || undefined],
    ['Attempts', delivery.attempts],
    ['Failing since', timeTag(delivery.failingSince)],
    ['Next attempt', timeTag(retryAt)],
    ['Settled', timeTag(delivery.settledAt)],
    ['Copy of', copyOf],
    ['Repeated', repeatOf && `has the content of delivery ${repeatOf}`],
    ['Run again', redrivenAt && html`${timeTag(redrivenAt)} by ${redrivenBy ?? 'an unknown person'}`],
  ];
  const entries = about
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<dl>${entries}</dl>`;
}

/** Who reads a repository hears of it what rules saw; the payload itself is for those who could hang a hook there. */
function viewPayload(delivery: DeliveryWithBody, root: string): Html {
  return html`<section><h2>Payload</h2>
<p><a href="${root}deliveries/${delivery.id}/payload">As it came</a>, ${delivery.bytes} bytes</p>
<pre tabindex="0">${formatPayload(delivery)}</pre></section>`;
}

/** A payload as people read it; what no delivery should be (no JSON, nested very deep) as it came. */
function formatPayload({ body }: DeliveryWithBody): string {
  const text = Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8');
  if (body.byteLength > maxShownBytes) return `${text}…`;
  try {
    return JSON.stringify(parsePayload(body), null, 2);
  } catch {
    return text;
  }
}
