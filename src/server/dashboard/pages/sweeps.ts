import { html } from '../../../platform/http/html.ts';
import type { DashboardData, ScheduleRow } from '../data.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

/** Shows every schedule of every rule: the next run, the last result and the progress. */
export async function sweepsPage({ root, time }: PageRequest, data: DashboardData): Promise<PageView> {
  const rows = (await data.schedules()).map((row) => [
    row.rule,
    html`<code>${row.clock}</code>`,
    time(row.next),
    row.job === undefined
      ? time(row.lastSlot)
      : html`<a href="${root}deliveries/${row.job}">${time(row.lastSlot)}</a>`,
    wentHow(row, time),
  ]);
  const heads = ['rule', 'clock', 'next', 'last', 'last result'];
  return { title: 'Sweeps', content: table(heads, rows, 'No rule has a schedule.') };
}

function wentHow({ underWay, result, missed, overlaps }: ScheduleRow, time: PageRequest['time']) {
  const failures = result?.failures.map(({ item, error }) => html`<li>${item}: ${error}</li>`) ?? [];
  return html`${underWay && html`<div><span class="mark claimed">under way</span> ${underWay}</div>`}
${result && html`<div>${time(result.endedAt)}: ${result.sentence}${result.isComplete ? '' : ', the rest continues with the next'}</div>`}
${result && result.drift > 0 ? html`<div>drift: ${result.drift}</div>` : undefined}
${failures.length > 0 ? html`<details><summary>What failed</summary><ul>${failures}</ul></details>` : undefined}
${missed + overlaps > 0 ? html`<div>slots missed: ${missed}, left out: ${overlaps}</div>` : undefined}`;
}
