import { type Html, html } from '../../../platform/http/html.ts';
import type { DashboardStore } from '../data.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

/** Shows the live processes of the installation, oldest first. */
export async function processesPage(
  { time }: { readonly time: PageRequest['time'] },
  { store }: { readonly store: Pick<DashboardStore, 'listProcesses'> },
): Promise<PageView> {
  const found = await store.listProcesses();
  const rows = found.map(({ name, role, version, startedAt, seenAt, isLeader, isSelf }) => [
    name,
    role,
    version,
    time(startedAt),
    time(seenAt),
    html`${isLeader ? mark('leader') : undefined} ${isSelf ? mark('this one') : undefined}`,
  ]);
  const heads = ['process', 'role', 'version', 'started', 'last heartbeat', 'is'];
  const content = html`${table(heads, rows, 'No process is alive.')}
<p>The leader enqueues due sweeps and maintenance jobs. This process shows this page.</p>`;
  return { title: 'Processes', content };
}

function mark(text: string): Html {
  return html`<span class="mark">${text}</span>`;
}
