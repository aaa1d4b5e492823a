import type { Pause } from '../../../engine/bounds/pauses.ts';
import type { Incident } from '../../../engine/incidents/incident.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { type DeliveryState, deliveryStates } from '../../../store/store.ts';
import type { DashboardData, ForgeHealth } from '../data.ts';
import { deliveryLink, subjectLink } from '../links.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { deliveriesPage, stateMark } from './deliveries.ts';
import { incidentLines, incidentTable } from './incidents.ts';
import { pauseForms, pauseLines } from './pauses.ts';
import { runTable } from './runs.ts';

const shownRuns = 10;

/**
 * Shows the state of Reeve: waiting and dead deliveries and the latest runs. Viewers other than operators get the list
 * of deliveries that they may see.
 */
export async function overviewPage(pageRequest: PageRequest, data: DashboardData): Promise<PageView> {
  const { viewer, root, time } = pageRequest;
  if (!viewer.isOperator) return deliveriesPage(pageRequest, data);
  const { store } = data;
  const [counts, oldest, runs, drift, runners, incidents, pauses] = await Promise.all([
    store.counts(),
    store.oldestWaiting(),
    store.listRuns({ limit: shownRuns }),
    data.drift(),
    data.runners(),
    data.incidents(),
    store.listPauses(),
  ]);
  const tiles = deliveryStates.map(
    (state) =>
      html`<li><a href="${root}deliveries?state=${state}"><strong>${counts[state].toLocaleString('en')}</strong>${stateMark(state)}</a></li>`,
  );
  const attention = await viewAttention(pageRequest, data, { counts, pauses, incidents, drift, runners });
  const content = html`<h2>Needs attention</h2>${attention}
<h2>Pause</h2>${pauseForms(pauses, pageRequest)}
<h2>Deliveries and jobs</h2><ul class="tiles">${tiles}</ul>
<p>${oldest ? html`The oldest waiting delivery arrived ${time(oldest)}.` : 'No delivery waits.'}</p>
<h2>Latest runs</h2>${await runTable(runs.items, store, pageRequest)}
<p><a href="${root}runs">All runs</a></p>`;
  return { title: 'Overview', content };
}

/** Maximum number of dead deliveries, runners and drifts that are named here; their pages list all. */
const named = 5;

const forgeNotes = {
  failing: 'The forge fails',
  refused: 'The forge refuses our credential',
} as const;

/** Data for the list of items that need attention. */
type AttentionData = {
  readonly counts: Readonly<Record<DeliveryState, number>>;
  readonly pauses: readonly Pause[];
  readonly incidents: readonly Incident[];
  readonly drift: Awaited<ReturnType<DashboardData['drift']>>;
  readonly runners: Awaited<ReturnType<DashboardData['runners']>>;
};

/**
 * Returns the items that need attention: a failing store or forge, every incident by name, dead deliveries, drift and
 * runners.
 */
async function viewAttention(
  pageRequest: PageRequest,
  data: DashboardData,
  found: AttentionData,
): Promise<Html> {
  const { root } = pageRequest;
  const { counts, pauses, incidents, drift, runners } = found;
  const health = await data.store.healthy();
  const offline = runners.filter(({ status }) => status === 'offline').map(({ name }) => name);
  const refusals = [...data.refusals()].map(([code, count]) => `${count} with ${code}`);
  const lines = [
    !health.ok &&
      html`<li><strong>The store is not writable</strong>: ${health.reason ?? 'see the log'}. Deliveries are refused until it is.</li>`,
    forgeLine(data.forge(), pageRequest),
    ...pauseLines(pauses, pageRequest),
    ...incidentLines(incidents, root),
    counts.dead > 0 &&
      html`<li><a href="${root}deliveries?state=dead">Dead deliveries: ${counts.dead}</a></li>`,
    counts.deferred > 0 &&
      html`<li><a href="${root}deliveries?state=deferred">Runs deferred by an hourly budget of changes${pauses.length > 0 ? ' or a pause' : ''}: ${counts.deferred}</a></li>`,
    drift.length > 0 &&
      html`<li><a href="${root}drift">Differences from the rules: ${drift.length}</a>${namesOf(drift.map(({ item, target }) => `${target} in ${item}`))}</li>`,
    offline.length > 0 &&
      html`<li><a href="${root}runners">Runners that are offline: ${offline.length}</a>${namesOf(offline)}</li>`,
    refusals.length > 0 &&
      html`<li>Deliveries refused by the receiver since the start: ${refusals.join(', ')}. The log has the reasons.</li>`,
  ].filter((line) => line !== false);
  if (lines.length === 0)
    return html`<p>Nothing: no failing rule or sweep, no broken file, no dead delivery, no drift, no pause.</p>`;
  return html`<ul class="notes">${lines}</ul>
${incidentTable(incidents, pageRequest)}
${counts.dead > 0 ? await deadTable(pageRequest, data) : undefined}`;
}

function forgeLine(forge: ForgeHealth, { time }: PageRequest): Html | false {
  return (
    forge.state !== 'ok' &&
    html`<li><strong>${forgeNotes[forge.state]}</strong>, since ${time(forge.since)}: ${forge.reason}. Deliveries are stored and wait.</li>`
  );
}

function namesOf(names: readonly string[]): string {
  const rest = names.length - named;
  return ` (${names.slice(0, named).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

async function deadTable({ root, time, forgeUrl }: PageRequest, { store }: DashboardData): Promise<Html> {
  const { items } = await store.listDeliveries({ state: 'dead', limit: named });
  const rows = items.map((delivery) => [
    deliveryLink(delivery.id, root),
    delivery.eventType,
    subjectLink(forgeUrl, delivery),
    delivery.reason,
    time(delivery.receivedAt),
  ]);
  return html`<h3>Newest dead deliveries</h3>${table(['id', 'event', 'about', 'why', 'received'], rows, '')}`;
}
