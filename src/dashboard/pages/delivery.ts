import { parsePayload } from '../../contract/events/parse-payload.ts';
import { type Html, html } from '../../http/html.ts';
import type { Delivery, DeliveryWithBody, Store } from '../../store/store.ts';
import { instant, type View } from '../page.ts';
import type { Visit } from '../page-handler.ts';
import type { Sight } from '../viewer.ts';
import { onlookerAt } from '../visibility.ts';
import { placeOf, stateMark } from './deliveries.ts';
import { viewRun } from './run-view.ts';

/** Bytes of a payload that a page shows; the rest comes by its link. */
const maxShownBytes = 256 * 1024;
/** Runs of one delivery that a page shows: a redriven one has several, a sweep’s job very many. */
const maxRuns = 20;

/** Returns a delivery that a visitor may see, without its body, and how much of it; undefined where there is none for them. */
export async function findDelivery(
  { viewer, params }: Pick<Visit, 'viewer' | 'params'>,
  store: Pick<Store, 'describeDelivery'>,
  id = params.id ?? '',
): Promise<{ delivery: Delivery; sight: 'reader' | 'administrator' } | undefined> {
  const delivery = await store.describeDelivery(id);
  if (delivery === undefined) return undefined;
  const sight = await viewer.sightOf(delivery);
  return sight === 'reader' || sight === 'administrator' ? { delivery, sight } : undefined;
}

/** Shows one delivery: what came, what each rule said of it and why, and what was done. */
export async function deliveryPage(
  visit: Visit,
  { store }: { store: Pick<Store, 'describeDelivery' | 'readDelivery' | 'listRuns'> },
): Promise<View | undefined> {
  const { root, viewer } = visit;
  const found = await findDelivery(visit, store);
  if (found === undefined) return undefined;
  const { delivery, sight } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const onlooker = await onlookerAt(viewer, found);
  const runs = items.map(
    (run) => html`<section><h2>Run of ${instant(run.trigger.at)}</h2>${viewRun(run, onlooker)}</section>`,
  );
  const whole = sight === 'administrator' ? await store.readDelivery(delivery.id) : undefined;
  const content = html`${aboutDelivery(delivery)}
${mayRunAgain(delivery, sight) ? visit.button(`deliveries/${delivery.id}/run`, 'Run it again') : undefined}
${runs.length > 0 ? runs : html`<p>No rule was asked: there is no run of it.</p>`}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : undefined}
${whole && viewPayload(whole, root)}`;
  const place = placeOf(delivery);
  const what = place ? `${delivery.eventType} in ${place}` : delivery.eventType;
  return { title: `Delivery ${delivery.id}: ${what}`, content };
}

/** Whoever administers a repository may have what came of it judged again; a sweep goes on by itself. */
export function mayRunAgain({ state, door }: Delivery, sight: Sight): boolean {
  const hasEnded = state === 'dead' || (state === 'settled' && door === 'webhook');
  return hasEnded && sight === 'administrator';
}

function aboutDelivery(delivery: Delivery): Html {
  const { state, reason, redrivenAt, redrivenBy, retryAt, copyOf, repeatOf } = delivery;
  const about: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['State', stateMark(state)],
    ['Why', reason],
    ['Received', instant(delivery.receivedAt)],
    ['By', delivery.door],
    ['Kind', delivery.eventType],
    ['Repository', delivery.repository],
    ['Id of the forge', delivery.door === 'webhook' ? delivery.uuid : undefined],
    ['Vouched for by', delivery.entry || undefined],
    ['Type', delivery.contentType || undefined],
    ['Attempts', delivery.attempts],
    ['Failing since', instant(delivery.failingSince)],
    ['Next attempt', instant(retryAt)],
    ['Settled', instant(delivery.settledAt)],
    ['Copy of', copyOf],
    ['Repeated', repeatOf && `has the content of delivery ${repeatOf}`],
    ['Run again', redrivenAt && html`${instant(redrivenAt)} by ${redrivenBy ?? 'somebody'}`],
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
<pre tabindex="0">${payloadText(delivery)}</pre></section>`;
}

/** A payload as people read it; what no delivery should be (no JSON, nested very deep) as it came. */
function payloadText({ body }: DeliveryWithBody): string {
  const text = Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8');
  if (body.byteLength > maxShownBytes) return `${text}…`;
  try {
    return JSON.stringify(parsePayload(body), null, 2);
  } catch {
    return text;
  }
}
