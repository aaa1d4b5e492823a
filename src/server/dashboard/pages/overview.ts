import { html } from '../../../platform/http/html.ts';
import { deliveryStates } from '../../../store/store.ts';
import type { DashboardData } from '../data.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { viewAttention } from './attention.ts';
import { deliveriesPage, stateMark } from './deliveries.ts';
import { pauseForms } from './pauses.ts';
import { runTable } from './runs.ts';

const shownRuns = 10;

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
  const attention = await viewAttention(pageRequest, data, { counts, pauses, incidents, drift, runners });
  const content = html`<h2>Needs attention</h2>${attention}
<h2>Pause</h2>${pauseForms(pauses, pageRequest)}
<h2>Deliveries and jobs</h2><ul class="tiles">${tiles}</ul>
<p>${oldest ? html`The oldest waiting delivery arrived ${time(oldest)}.` : 'No delivery waits.'}</p>
<h2>Latest runs</h2>${await runTable(runs.items, store, pageRequest)}
<p><a href="${root}runs">All runs</a></p>`;
  return { title: 'Overview', content };
}
