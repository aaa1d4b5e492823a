import { html } from '../../../platform/http/html.ts';
import type { DashboardData } from '../data.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { stateMark } from './deliveries.ts';

/** Sort order: runners that need attention first. */
const order = ['offline', 'online', 'gone'] as const;

/** Shows the runners observed by sweeps. */
export async function runnersPage({ time }: PageRequest, data: DashboardData): Promise<PageView> {
  const found = await data.runners();
  const sorted = found.toSorted(
    (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name),
  );
  const rows = sorted.map(({ name, level, status, since, busy, disabled, flaps, labels }) => [
    name,
    level,
    stateMark(status),
    time(since),
    [busy ? 'works' : '', disabled ? 'disabled' : ''].filter(Boolean).join(', '),
    flaps,
    labels.join(' '),
  ]);
  const heads = ['runner', 'where', 'status', 'since', 'now', 'flaps', 'labels'];
  const empty = html`No sweep has observed a runner yet. Runners appear here after the first sweep of a rule with <code>each: runner</code>, if the account may see them.`;
  return { title: 'Runners', content: table(heads, rows, empty) };
}
