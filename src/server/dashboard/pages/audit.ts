import { type Html, html } from '../../../platform/http/html.ts';
import type { AuditAction, AuditEntry } from '../../../store/store.ts';
import type { DashboardData } from '../data.ts';
import { personLink } from '../links.ts';
import { type PageView, table } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';

const shown = 50;

const actionWords: Readonly<Record<AuditAction, string>> = {
  redrive: 'ran again',
  revert: 'reverted',
  sweep: 'started the sweep of',
  move: 'moved',
  remove: 'removed',
  pause: 'paused',
  resume: 'resumed',
};

/** Shows the audit log, newest first. */
export async function auditPage(
  { query, root, forgeUrl, time }: PageRequest,
  { store }: DashboardData,
): Promise<PageView> {
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const found = await store.listAudit({
    limit: shown + 1,
    ...(before === undefined ? {} : { before: Number(before) }),
  });
  const entries = found.slice(0, shown);
  const rows = entries.map((entry) => [
    time(entry.at),
    personLink(forgeUrl, entry.by),
    actionWords[entry.action],
    linkObject(entry, root),
  ]);
  const last = found.length > shown ? entries.at(-1)?.number : undefined;
  const older = last && html`<p><a rel="next" href="${root}audit?before=${last}">Older</a></p>`;
  const empty =
    before === undefined
      ? 'No entries yet. An entry appears when someone runs deliveries again, reverts a run, pauses or resumes writes, or changes a merge queue.'
      : 'No older entries.';
  const content = html`${table(['when', 'who', 'did', 'what'], rows, empty)}
${older || undefined}
<p>The newest 10,000 entries are kept.</p>`;
  return { title: 'Audit', content };
}

/** Returns the object of an audit entry. Deliveries and runs link to their pages, but may have been deleted since. */
function linkObject({ object }: AuditEntry, root: string): Html | string {
  const [, kind, id] = /^(delivery|run) ([\w-]{1,36})$/.exec(object) ?? [];
  if (kind === undefined || id === undefined) return object;
  return html`<a href="${root}${kind === 'run' ? 'runs' : 'deliveries'}/${id}">${kind} <span class="id">${id}</span></a>`;
}
