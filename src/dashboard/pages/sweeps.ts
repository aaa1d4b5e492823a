import { html } from '../../http/html.ts';
import type { Readings, ScheduleRow } from '../data.ts';
import { instant, table, type View } from '../page.ts';
import type { Visit } from '../page-handler.ts';

/** Shows every clock of a rule: when it runs next, how it went last, how far it is now. */
export async function sweepsPage({ root }: Visit, readings: Pick<Readings, 'schedules'>): Promise<View> {
  const rows = (await readings.schedules()).map((row) => [
    row.rule,
    html`<code>${row.clock}</code>`,
    instant(row.next),
    row.job === undefined
      ? instant(row.lastSlot)
      : html`<a href="${root}deliveries/${row.job}">${instant(row.lastSlot)}</a>`,
    wentHow(row),
  ]);
  const heads = ['rule', 'clock', 'next', 'last', 'how it went'];
  return { title: 'Sweeps', content: table(heads, rows, 'No rule has a schedule.') };
}

function wentHow({ underWay, result, missed, overlaps }: ScheduleRow) {
  const failures = result?.failures.map(({ item, error }) => html`<li>${item}: ${error}</li>`) ?? [];
  return html`${underWay && html`<div><span class="mark claimed">under way</span> ${underWay}</div>`}
${result && html`<div>${instant(result.endedAt)}: ${result.sentence}${result.isComplete ? '' : ', the rest goes on with the next'}</div>`}
${result && result.drift > 0 ? html`<div>drift: ${result.drift}</div>` : undefined}
${failures.length > 0 ? html`<details><summary>What failed</summary><ul>${failures}</ul></details>` : undefined}
${missed + overlaps > 0 ? html`<div>slots missed: ${missed}, left out: ${overlaps}</div>` : undefined}`;
}
