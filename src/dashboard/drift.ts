import { html } from '../html.ts';
import { instant, table, type View } from './page.ts';
import type { Readings } from './readings.ts';

/** Shows what sweeps found to be otherwise than a rule wants it, and since when. */
export async function driftPage(_visit: unknown, readings: Pick<Readings, 'drift'>): Promise<View> {
  const rows = (await readings.drift()).map(({ item, target, live, wanted, since, rule, why }) => [
    item,
    target,
    html`<code>${JSON.stringify(live) ?? 'not there'}</code>`,
    html`<code>${JSON.stringify(wanted) ?? 'nothing'}</code>`,
    instant(since),
    rule,
    why,
  ]);
  const heads = ['where', 'what', 'is', 'wanted', 'since', 'rule', 'why it stays'];
  return { title: 'Drift', content: table(heads, rows, 'Nothing drifts, as far as sweeps have seen.') };
}
