import type { ForgeRequest } from '../../../client/request-log.ts';
import type { Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import type { StoredHeaders } from '../../../store/stored-headers.ts';
import { type TableCell, table } from '../look/table.ts';
import { maySeeRequest, type ViewerAccess } from '../visibility.ts';

const headerHeads = ['header', 'value'];
const requestHeads = ['request', 'answer', 'took', 'try'];

/** Shows the headers that a delivery came with; of those that may be secret, the name. Only for who may see the payload. */
export function viewHeaders(kept: StoredHeaders | undefined): Html {
  const rows = (kept?.headers ?? []).map(({ name, value }) => [
    html`<code>${name}</code>`,
    value === undefined ? html`<span class="muted">not stored</span>` : html`<code>${value}</code>`,
  ]);
  const more =
    kept !== undefined && kept.leftOut > 0
      ? html`<p>${kept.leftOut} more headers were not stored.</p>`
      : undefined;
  return html`<section><h2>Request headers</h2>
<p class="muted">Of headers that may hold a secret, such as signatures, only the name is stored.</p>
${table(headerHeads, rows, 'No headers are stored with this delivery: it came before Reeve stored them.')}${more}</section>`;
}

/** Shows the requests to the forge that a run sent, each with its answer. Readers learn their number only. */
export function viewForgeRequests(run: Run, viewerAccess: ViewerAccess): Html | undefined {
  const { forgeRequests = [], forgeRequestsLeftOut = 0 } = run;
  if (forgeRequests.length === 0 || (!viewerAccess.isOperator && viewerAccess.access !== 'administrator'))
    return undefined;
  const shown = forgeRequests.filter((request) => maySeeRequest(request, viewerAccess));
  const hidden = forgeRequests.length - shown.length;
  const rows = shown.map((request) => requestRow(request, viewerAccess));
  const notes = [
    ...(forgeRequestsLeftOut > 0 ? [`${forgeRequestsLeftOut} later requests were not recorded.`] : []),
    ...(hidden > 0 ? [`${hidden} requests outside this repository are shown to operators.`] : []),
  ];
  return html`<details class="requests"><summary>Requests to the forge: ${run.requests}</summary>
${table(requestHeads, rows, 'None of them was to this repository.')}${notes.map((note) => html`<p class="muted">${note}</p>`)}</details>`;
}

function requestRow(
  { method, path, status, ms, attempt, error }: ForgeRequest,
  { isOperator }: ViewerAccess,
): readonly TableCell[] {
  const answer = html`<span class="mark ${isFailure(status) ? 'failed' : 'settled'}">${status ?? 'no answer'}</span>`;
  // What a forge says to the bot may name what only the bot may know.
  const why = isOperator && error !== undefined ? html` ${error}` : undefined;
  return [html`<code>${method} ${path}</code>`, html`${answer}${why}`, `${ms} ms`, attempt];
}

function isFailure(status: number | undefined): boolean {
  return status === undefined || status >= 400;
}
