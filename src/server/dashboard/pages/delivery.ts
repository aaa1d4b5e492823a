import { parsePayload } from '../../../contract/events/parse-payload.ts';
import { isOfRepository, type Pause } from '../../../engine/bounds/pauses.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import type { Delivery, DeliveryWithBody, Store } from '../../../store/store.ts';
import { deliveryLink, personLink, subjectLink } from '../links.ts';
import { markIds } from '../look/table.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import type { DeliveryAccess } from '../viewer.ts';
import { resolveAccess } from '../visibility.ts';
import { formatSubject, stateMark } from './deliveries.ts';
import { pauseControl } from './pauses.ts';
import { viewHeaders } from './request-view.ts';
import { viewRun } from './run-view.ts';

/** Bytes of a payload that a page shows; the rest comes by its link. */
const maxShownBytes = 256 * 1024;
/** Runs of one delivery that a page shows: a redriven one has several, a sweep’s job very many. */
const maxRuns = 20;

/** Returns a delivery without its body, and the access of the viewer; undefined if the viewer may not see it. */
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

/** Shows one delivery: its data, the verdict of each rule with the reason, and the changes. */
export async function deliveryPage(
  pageRequest: PageRequest,
  {
    store,
  }: {
    store: Pick<Store, 'describeDelivery' | 'readDelivery' | 'readHeaders' | 'listRuns' | 'listPauses'>;
  },
): Promise<PageView | undefined> {
  const { root, viewer, time } = pageRequest;
  const found = await findDelivery(pageRequest, store);
  if (found === undefined) return undefined;
  const { delivery, access } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const viewerAccess = await resolveAccess(viewer, found);
  const runs = items.map(
    (run) =>
      html`<section><h2>Run of ${time(run.trigger.at)}</h2>${viewRun(run, viewerAccess, pageRequest)}</section>`,
  );
  const whole = access === 'administrator' ? await store.readDelivery(delivery.id) : undefined;
  const headers = whole?.door === 'webhook' ? await store.readHeaders(delivery.id) : undefined;
  const pauses = viewer.isOperator ? await store.listPauses() : [];
  const content = html`${aboutDelivery(delivery, pageRequest)}
<div class="actions">${canRedrive(delivery, access) ? pageRequest.button(`deliveries/${delivery.id}/run`, 'Run it again') : undefined}
${viewer.isOperator ? repositoryPause(delivery, pauses, pageRequest) : undefined}</div>
${runs.length > 0 ? runs : html`<p>No rule was evaluated: this delivery has no run.</p>`}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : undefined}
${whole?.door === 'webhook' ? viewHeaders(headers) : undefined}${whole && viewPayload(whole, root)}`;
  const subject = formatSubject(delivery);
  const what = subject ? `${delivery.eventType} in ${subject}` : delivery.eventType;
  return { title: `Delivery ${delivery.id}: ${what}`, content };
}

/** Administrators of a repository may run its deliveries again; a sweep continues by itself. */
export function canRedrive({ state, door }: Delivery, access: DeliveryAccess): boolean {
  const hasEnded = state === 'dead' || (state === 'settled' && door === 'webhook');
  return hasEnded && access === 'administrator';
}

/** Returns the button that pauses writes to the repository of a delivery, or those that end its pauses. */
function repositoryPause(
  { id, repository: name, repositoryId }: Delivery,
  pauses: readonly Pause[],
  pageRequest: PageRequest,
): Html | undefined {
  if (name === undefined) return undefined;
  const own = pauses.filter(({ scope }) => isOfRepository(scope, { name, id: repositoryId }));
  return pauseControl({ kind: 'repository', name }, own, pageRequest, `deliveries/${id}`);
}

function aboutDelivery(delivery: Delivery, { root, time, forgeUrl }: PageRequest): Html {
  const { state, reason, redrivenAt, redrivenBy, retryAt, copyOf, repeatOf } = delivery;
  const about: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['State', stateMark(state)],
    ['Reason', reason && markIds(reason)],
    ['Received', time(delivery.receivedAt)],
    ['By', delivery.door],
    ['Kind', delivery.eventType],
    ['About', subjectLink(forgeUrl, delivery)],
    ['Delivery UUID', delivery.door === 'webhook' ? markIds(delivery.uuid) : undefined],
    ['Verified with', delivery.entry || undefined],
    ['Type', delivery.contentType || undefined],
    ['Attempts', delivery.attempts],
    ['Failing since', time(delivery.failingSince)],
    ['Next attempt', time(retryAt)],
    ['Settled', time(delivery.settledAt)],
    ['Copy of', copyOf && deliveryLink(copyOf, root)],
    ['Repeated', repeatOf && html`has the content of delivery ${deliveryLink(repeatOf, root)}`],
    [
      'Run again',
      redrivenAt && html`${time(redrivenAt)} by ${personLink(forgeUrl, redrivenBy ?? 'an unknown person')}`,
    ],
  ];
  const entries = about
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<dl>${entries}</dl>`;
}

/** Shows the payload. Only for administrators of the repository, who can also create hooks there. */
function viewPayload(delivery: DeliveryWithBody, root: string): Html {
  return html`<section><h2>Payload</h2>
<p><a href="${root}deliveries/${delivery.id}/payload">As it came</a>, ${delivery.bytes} bytes</p>
<pre tabindex="0">${formatPayload(delivery)}</pre></section>`;
}

/** Returns a payload as indented JSON, or unchanged if it is not JSON or is nested too deep. */
function formatPayload({ body }: DeliveryWithBody): string {
  const text = Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8');
  if (body.byteLength > maxShownBytes) return `${text}…`;
  try {
    return JSON.stringify(parsePayload(body), null, 2);
  } catch {
    return text;
  }
}
