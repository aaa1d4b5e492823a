import { html } from '../../http/html.ts';
import { deliveryStates } from '../../store/store.ts';
import type { DashboardData } from '../data.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { deliveriesPage, stateMark } from './deliveries.ts';
import { incidentLines, incidentTable } from './incidents.ts';
import { pauseForms, pauseLines } from './pauses.ts';
import { runTable } from './runs.ts';

const shownRuns = 10;

const forgeNotes = {
  failing: 'The forge fails',
  refused: 'The forge refuses our credential',
} as const;

/** Shows how Reeve does: what waits, what is dead, what was done last. People who are no operators begin with what they may see. */
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
  const refusals = [...data.refusals()].map(([code, count]) => `${count} with ${code}`);
  const offline = runners.filter(({ status }) => status === 'offline').length;
  const forge = data.forge();
  const notes = [
    ...pauseLines(pauses, pageRequest),
    forge.state !== 'ok' &&
      html`<li>${forgeNotes[forge.state]}, since ${time(forge.since)}: ${forge.reason}. Deliveries are stored and wait.</li>`,
    ...incidentLines(incidents, root),
    counts.dead > 0 &&
      html`<li><a href="${root}deliveries?state=dead">Dead deliveries: ${counts.dead}</a></li>`,
    counts.deferred > 0 &&
      html`<li><a href="${root}deliveries?state=deferred">Runs deferred by an hourly budget of changes${pauses.length > 0 ? ' or a pause' : ''}: ${counts.deferred}</a></li>`,
    drift.length > 0 &&
      html`<li><a href="${root}drift">Things that are not as a rule wants them: ${drift.length}</a></li>`,
    offline > 0 && html`<li><a href="${root}runners">Runners that are offline: ${offline}</a></li>`,
  ].filter((note) => note !== false);
  const content = html`<h2>To look at</h2>
${notes.length > 0 ? html`<ul>${notes}</ul>` : html`<p>Nothing: no rule and no sweep fails, no file is broken, nothing is dead, nothing drifts, nothing is paused.</p>`}
${incidentTable(incidents, pageRequest)}
<h2>Pause</h2>${pauseForms(pauses, pageRequest)}
<h2>Deliveries and jobs</h2><ul class="tiles">${tiles}</ul>
<p>${oldest ? html`The oldest that waits came ${time(oldest)}.` : 'None waits.'}</p>
${refusals.length > 0 ? html`<p>Refused at the door since the start: ${refusals.join(', ')}. The log says why.</p>` : undefined}
<h2>Latest runs</h2>${await runTable(runs.items, store, pageRequest)}
<p><a href="${root}runs">All runs</a></p>`;
  return { title: 'Overview', content };
}
