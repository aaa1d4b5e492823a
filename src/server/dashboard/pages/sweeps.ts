import { html } from '../../../platform/http/html.ts';
import type { DashboardData, ScheduleRow } from '../data.ts';
import { itemLink, ruleLink } from '../links.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

const empty = html`No rule of the operator has a schedule. A sweep appears here once a rule has <code>on: { schedule: "0 3 * * *" }</code> and <code>each: issue</code>, <code>pull_request</code>, <code>repository</code> or <code>runner</code>.`;

/** Shows every schedule of every rule: the next run, the last result and the progress. */
export async function sweepsPage(pageRequest: PageRequest, data: DashboardData): Promise<PageView> {
  const { root, time } = pageRequest;
  const rows = (await data.schedules()).map((row) => [
    ruleLink(row.rule, root, row.rule),
    html`<code>${row.clock}</code>`,
    time(row.next),
    row.job === undefined
      ? time(row.lastSlot)
      : html`<a href="${root}deliveries/${row.job}">${time(row.lastSlot)}</a>`,
    wentHow(row, pageRequest),
  ]);
  const heads = ['rule', 'clock', 'next', 'last', 'last result'];
  return { title: 'Sweeps', content: table(heads, rows, empty) };
}

function wentHow({ underWay, result, missed, overlaps }: ScheduleRow, { root, time, forgeUrl }: PageRequest) {
  const failures =
    result?.failures.map(({ item, error }) => html`<li>${itemLink(forgeUrl, item, root)}: ${error}</li>`) ??
    [];
  return html`${underWay && html`<div><span class="mark claimed">under way</span> ${underWay}</div>`}
${result && html`<div>${time(result.endedAt)}: ${result.sentence}${result.isComplete ? '' : ', the rest continues with the next'}</div>`}
${result && result.drift > 0 ? html`<div>drift: ${result.drift}</div>` : undefined}
${failures.length > 0 ? html`<details><summary>What failed</summary><ul>${failures}</ul></details>` : undefined}
${missed + overlaps > 0 ? html`<div>slots missed: ${missed}, left out: ${overlaps}</div>` : undefined}`;
}
