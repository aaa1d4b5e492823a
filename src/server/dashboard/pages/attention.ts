import type { Pause } from '../../../engine/bounds/pauses.ts';
import type { Incident } from '../../../engine/incidents/incident.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import type { DeliveryState } from '../../../store/store.ts';
import type { DashboardData, ForgeHealth } from '../data.ts';
import { deliveryLink, subjectLink } from '../links.ts';
import { table } from '../look/table.ts';
import type { PageRequest } from '../page-handler.ts';
import { incidentLines, incidentTable } from './incidents.ts';
import { pauseLines } from './pauses.ts';

/** Dead deliveries, runners and differences that are named; their pages list all. */
const named = 5;

const forgeNotes = {
  failing: 'The forge fails',
  refused: 'The forge refuses our credential',
} as const;

/** What is read for the list of what needs attention. */
type AttentionData = {
  readonly counts: Readonly<Record<DeliveryState, number>>;
  readonly pauses: readonly Pause[];
  readonly incidents: readonly Incident[];
  readonly drift: Awaited<ReturnType<DashboardData['drift']>>;
  readonly runners: Awaited<ReturnType<DashboardData['runners']>>;
};

/** Returns what needs a person: what the store and the forge refuse, every incident by name, dead deliveries, drift, runners. */
export async function viewAttention(
  pageRequest: PageRequest,
  data: Pick<DashboardData, 'store' | 'forge' | 'refusals'>,
  found: AttentionData,
): Promise<Html> {
  const { root } = pageRequest;
  const { counts, pauses, incidents, drift, runners } = found;
  const health = await data.store.healthy();
  const offline = runners.filter(({ status }) => status === 'offline').map(({ name }) => name);
  const refusals = [...data.refusals()].map(([code, count]) => `${count} with ${code}`);
  const lines = [
    !health.ok &&
      html`<li><strong>The store cannot be written</strong>: ${health.reason ?? 'the log says why'}. Deliveries are refused until it can.</li>`,
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
    return html`<p>Nothing: no rule and no sweep fails, no file is broken, nothing is dead, nothing drifts, nothing is paused.</p>`;
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

async function deadTable(
  { root, time, forgeUrl }: PageRequest,
  { store }: Pick<DashboardData, 'store'>,
): Promise<Html> {
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
