import { type Incident, type IncidentKind, kindRow } from '../../../engine/incidents/incident.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { itemLink, ruleLink } from '../links.ts';
import { markIds, table } from '../page.ts';
import type { PageLinks } from '../page-handler.ts';

/** Maximum number of incidents of a rule on its page; the metrics count all. */
const shown = 50;

/** Returns whether the key of an incident is a rule. Other keys are files, logins and names of secrets. */
export function isOfRule(kind: IncidentKind): boolean {
  return kind !== 'file-broken' && kind !== 'account-changed' && kind !== 'secret-unusable';
}

/** Returns the table of incidents, most recently seen first; undefined if there are none. */
export function incidentTable(
  incidents: readonly Incident[],
  { root, time, forgeUrl }: PageLinks,
): Html | undefined {
  if (incidents.length === 0) return undefined;
  const rows = incidents
    .slice(0, shown)
    .map(({ kind, key, subject, count, lastAt, reason, run }) => [
      html`${isOfRule(kind) ? ruleLink(key, root, key) : markIds(key)}${subject === undefined ? '' : html`<div>on ${itemLink(forgeUrl, subject)}</div>`}`,
      count,
      run === undefined ? time(lastAt) : html`<a href="${root}runs/${run}">${time(lastAt)}</a>`,
      html`<div>${kindRow(kind).title.toLowerCase()}</div>${markIds(reason.split('\n', 1)[0] ?? '')}`,
    ]);
  const rest = incidents.length - shown;
  return html`${table(['what', 'times', 'last', 'why'], rows, '')}
${rest > 0 ? html`<p>And ${rest} more.</p>` : undefined}`;
}
