import { html } from '../../../platform/http/html.ts';
import type { DashboardData } from '../data.ts';
import { itemLink, ruleLink } from '../links.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

const empty =
  'No drift. A difference appears here when a sweep finds an item that differs from a rule and stays so: because the rule only observes, a budget is used up, or the forge refuses the change.';

/** Maximum number of rows on the page; `reeve drift` prints all. */
const shown = 500;

/** Shows the drift found by sweeps, and when each drift was first detected. */
export async function driftPage(
  { root, time, forgeUrl }: PageRequest,
  data: DashboardData,
): Promise<PageView> {
  const found = await data.drift();
  const rows = found
    .slice(0, shown)
    .map(({ item, target, live, wanted, since, rule, why }) => [
      itemLink(forgeUrl, item, root),
      target,
      html`<code>${JSON.stringify(live) ?? 'not there'}</code>`,
      html`<code>${JSON.stringify(wanted) ?? 'nothing'}</code>`,
      time(since),
      ruleLink(rule, root, rule),
      why,
    ]);
  const heads = ['where', 'what', 'is', 'wanted', 'since', 'rule', 'why it persists'];
  const content = html`${table(heads, rows, empty)}
${found.length > shown ? html`<p>These are the ${shown} oldest of ${found.length}; <code>reeve drift</code> prints all.</p>` : undefined}`;
  return { title: 'Drift', content };
}
