import { html } from '../../../platform/http/html.ts';
import type { DashboardData } from '../data.ts';
import { ruleLink } from '../links.ts';
import { markIds, type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { stateMark } from './deliveries.ts';

/** Sort order: runners that need attention first. */
const order = ['offline', 'online', 'gone'] as const;

/** Shows the runners observed by sweeps, and what the rules about runners cannot see. */
export async function runnersPage({ root, time }: PageRequest, data: DashboardData): Promise<PageView> {
  const found = await data.runners();
  const sorted = found.toSorted(
    (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name),
  );
  const rows = sorted.map(({ name, level, status, since, busy, disabled, flaps, labels, notSeenSince }) => [
    name,
    level,
    notSeenSince
      ? html`<span class="mark gone">not seen</span> since ${time(notSeenSince)}, was ${status}`
      : stateMark(status),
    notSeenSince ? '' : time(since),
    [busy && !notSeenSince ? 'works' : '', disabled ? 'disabled' : ''].filter(Boolean).join(', '),
    flaps,
    labels.join(' '),
  ]);
  const heads = ['runner', 'where', 'status', 'since', 'now', 'flaps', 'labels'];
  const visitors = new Set(data.rules().flatMap(({ id, each }) => (each?.includes('runner') ? [id] : [])));
  const limits = (await data.sight())
    .filter(({ id }) => visitors.has(id))
    .flatMap((rule) => rule.limits.map((limit) => ({ id: rule.id, ...limit })));
  const unseen = limits.map(({ id, text, since }) => [ruleLink(id, root), markIds(text), time(since)]);
  const empty =
    unseen.length > 0
      ? html`No sweep has observed a runner: the rules above cannot see them.`
      : html`No sweep has observed a runner yet. Runners appear here after the first sweep of a rule with <code>each: runner</code>, if the account may see them.`;
  const missing =
    unseen.length > 0
      ? html`<h2>What rules cannot see</h2>${table(['rule', 'cannot see or do', 'since'], unseen, '')}<h2>Runners</h2>`
      : undefined;
  return { title: 'Runners', content: html`${missing}${table(heads, rows, empty)}` };
}
