import type { ForgeRequest } from '../../../client/request-log.ts';
import { describeChange, isObserved, observedWords } from '../../../engine/describe-change.ts';
import { idleWordsOf, type RecordedChange, type Run } from '../../../engine/record.ts';
import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { type Finding, nameOfRule, type Verdict, versionWords, wordsOf } from '../../../rules/verdict.ts';
import type { StoredHeaders } from '../../../store/stored-headers.ts';
import { viewExpression } from '../highlight.ts';
import { placeLink, ruleLink } from '../links.ts';
import { type TableCell, table } from '../page.ts';
import {
  isOfOwnFile,
  maySeeChange,
  maySeeErrors,
  maySeeRequest,
  maySeeValue,
  type ViewerAccess,
  valueFor,
} from '../visibility.ts';

const notForReaders = 'not for readers of this repository';

/** Link targets of a run; absent: no links. */
type RunLinks = { readonly root: string; readonly forgeUrl: string };

/** Shows a run: the verdict of each rule with the values that the rule saw, the planned changes, and their outcomes. */
export function viewRun(run: Run, viewerAccess: ViewerAccess, links?: RunLinks): Html {
  const { requests, ms, mode, trigger } = run;
  const view = (verdict: Verdict): Html =>
    viewVerdict(verdict, idleWordsOf(run, verdict), viewerAccess, links);
  const asked = run.rules.filter(({ verdict }) => verdict !== 'skipped').map(view);
  // Operators may see all rules. The rules that were skipped, usually many, are listed in a collapsed section.
  const others = viewerAccess.isOperator ? run.rules : [];
  const skipped = others.filter(({ verdict }) => verdict === 'skipped').map(view);
  const planned = run.changes.map((change) => changeRow(change, outcomeOf(run, change), viewerAccess));
  const refused = run.refused.map(({ change, why, until }) => {
    const status = until === undefined ? 'refused' : 'deferred';
    return changeRow(change, { status, words: why }, viewerAccess);
  });
  const rows = [...planned, ...refused];
  return html`${asked.length > 0 ? asked : html`<p>No rule was evaluated.</p>`}
${skipped.length > 0 ? html`<details><summary>Rules that were not evaluated: ${skipped.length}</summary>${skipped}</details>` : undefined}
<h3>Changes</h3>${table(['change', 'reason', 'request', 'outcome'], rows, 'No changes.')}
${viewForgeRequests(run, viewerAccess)}
<p class="muted">Run <code>${run.id}</code>, ${mode}, ${count(requests, 'request')}, ${ms} ms${trigger.repeated ? ', of a repeated delivery' : ''}</p>`;
}

const resultWords = { held: 'yes', not: 'no', error: 'error', unevaluated: 'not evaluated' } as const;

function viewVerdict(
  verdict: Verdict,
  idleWords: string | undefined,
  viewerAccess: ViewerAccess,
  links: RunLinks | undefined,
): Html {
  const { rule, source, commit, line, findings } = verdict;
  const why =
    verdict.verdict !== 'failed' || maySeeErrors(verdict, viewerAccess)
      ? (wordsOf(verdict) ?? idleWords)
      : undefined;
  const file = viewerAccess.isOperator ? source : source.slice(source.lastIndexOf('/') + 1);
  const place =
    links && isLinked(verdict, viewerAccess)
      ? { file, line, commit, source }
      : { file, line, commit, source: '' };
  const rows = findings.map((finding) => [
    seenBy(finding, verdict, viewerAccess),
    html`<code>${viewExpression(finding.expression)}</code>`,
    html`<span class="result ${finding.result}">${resultWords[finding.result]}</span>`,
    `${finding.line}:${finding.column}`,
  ]);
  const head = html`<strong>${nameOfRule(rule)}</strong> <span class="mark ${verdict.verdict}">${verdict.verdict}</span>
${why === undefined ? undefined : html`<span class="why">${why}</span>`}`;
  const history =
    links && viewerAccess.isOperator ? html` · ${ruleLink(rule, links.root, 'history')}` : undefined;
  const version = versionWords(verdict);
  const where = html`${placeLink(links?.forgeUrl ?? '', place)}${version === undefined ? undefined : ` · ${version}`}${history}`;
  if (rows.length === 0) return html`<p>${head} ${where}</p>`;
  const shown = table(['values', 'condition', 'holds', 'line'], rows, '');
  return html`<details${verdict.verdict === 'unmatched' ? undefined : openMark}><summary>${head}</summary><div class="where">${where}</div>${shown}</details>`;
}

const openMark = html` open`;

/**
 * Returns whether the place of a rule becomes a link. The rule file may be in a repository that the viewer cannot read,
 * so viewers other than operators get links only to files in the viewed repository.
 */
function isLinked(verdict: Verdict, viewerAccess: ViewerAccess): boolean {
  if (viewerAccess.isOperator) return true;
  return isOfOwnFile(verdict, viewerAccess) && verdict.source.startsWith(`${viewerAccess.repository}/`);
}

function seenBy({ values, result }: Finding, verdict: Verdict, viewerAccess: ViewerAccess): Html {
  const maySee = (name: string): boolean =>
    result === 'error' && name === 'error'
      ? maySeeErrors(verdict, viewerAccess)
      : maySeeValue(name, viewerAccess);
  const lines = Object.entries(values).map(([name, value]) =>
    maySee(name)
      ? html`<div><code>${name}</code> = ${valueFor(value, viewerAccess)}</div>`
      : html`<div><code>${name}</code>: ${notForReaders}</div>`,
  );
  return html`${lines}`;
}

type ChangeOutcome = { readonly status: string; readonly words: string | undefined };

function changeRow(
  change: RecordedChange,
  { status, words }: ChangeOutcome,
  viewerAccess: ViewerAccess,
): readonly (Html | string)[] {
  const mark = html`<span class="mark ${status === observedWords ? 'observed' : status}">${status}</span>`;
  if (!maySeeChange(change, status, viewerAccess)) return [change.action, notForReaders, '', mark];
  const described = describeChange(change);
  const body = (change.input as { body?: unknown } | null)?.body;
  const details =
    body === undefined
      ? undefined
      : html`<details><summary>body</summary><pre>${JSON.stringify(body, null, 2)}</pre></details>`;
  return [
    html`<code>${described.sign} ${described.words}</code>`,
    change.reason,
    html`<code>${change.method} ${change.path}</code>${details}`,
    html`${mark} ${words}`,
  ];
}

function outcomeOf(run: Run, change: RecordedChange): ChangeOutcome {
  const outcome = run.outcomes.find((one) => one.change === change.id);
  const status = isObserved(run, change) ? observedWords : (outcome?.status ?? 'planned');
  return { status, words: outcome?.error };
}

const headerHeads = ['header', 'value'];
const requestHeads = ['request', 'answer', 'took', 'try'];

/**
 * Shows the headers of a delivery; for headers that may contain secrets, only the name. Only for viewers who may see
 * the payload.
 */
export function viewHeaders(kept: StoredHeaders | undefined): Html {
  const rows = (kept?.headers ?? []).map(({ name, value }) => [
    html`<code>${name}</code>`,
    value === undefined ? html`<span class="muted">not stored</span>` : html`<code>${value}</code>`,
  ]);
  const more =
    kept !== undefined && kept.leftOut > 0
      ? html`<p>${count(kept.leftOut, 'more header')} not stored.</p>`
      : undefined;
  return html`<section><details><summary><h2>Request headers</h2></summary>
<p class="muted">For headers that may contain a secret, such as signatures, only the name is stored.</p>
${table(headerHeads, rows, 'No headers are stored with this delivery: it arrived before Reeve stored headers.')}${more}</details></section>`;
}

/** Shows the requests of a run to the forge, each with its response. Readers see only the number of requests. */
function viewForgeRequests(run: Run, viewerAccess: ViewerAccess): Html | undefined {
  const { forgeRequests = [], forgeRequestsLeftOut = 0 } = run;
  if (forgeRequests.length === 0 || (!viewerAccess.isOperator && viewerAccess.access !== 'administrator'))
    return undefined;
  const shown = forgeRequests.filter((request) => maySeeRequest(request, viewerAccess));
  const hidden = forgeRequests.length - shown.length;
  const rows = shown.map((request) => requestRow(request, viewerAccess));
  const notes = [
    ...(forgeRequestsLeftOut > 0 ? [`${count(forgeRequestsLeftOut, 'later request')} not recorded.`] : []),
    ...(hidden > 0 ? [`Shown to operators alone: ${count(hidden, 'request')} outside this repository.`] : []),
  ];
  return html`<details class="requests"><summary>Requests to the forge: ${run.requests}</summary>
${table(requestHeads, rows, 'None of them was to this repository.')}${notes.map((note) => html`<p class="muted">${note}</p>`)}</details>`;
}

function requestRow(
  { method, path, status, ms, attempt, error }: ForgeRequest,
  { isOperator }: ViewerAccess,
): readonly TableCell[] {
  const answer = html`<span class="mark ${isFailure(status) ? 'failed' : 'settled'}">${status ?? 'no answer'}</span>`;
  // A forge response may contain data that only the bot may read.
  const why = isOperator && error !== undefined ? html` ${error}` : undefined;
  return [html`<code>${method} ${path}</code>`, html`${answer}${why}`, `${ms} ms`, attempt];
}

function isFailure(status: number | undefined): boolean {
  return status === undefined || status >= 400;
}
