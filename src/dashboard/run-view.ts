import { actions } from '../actions/actions.ts';
import { describeChange } from '../engine/describe-change.ts';
import type { RecordedChange, Run } from '../engine/record.ts';
import { facts } from '../facts/facts.ts';
import { type Html, html } from '../html.ts';
import { type Finding, type Verdict, wordsOf } from '../rules/verdict.ts';
import { table } from './page.ts';
import type { Sight } from './viewer.ts';

/** Who looks at a run: what it saw and did may be more than they may see. */
export type Onlooker = {
  readonly isOperator: boolean;
  readonly sight: Exclude<Sight, 'none'>;
  /** The repository that they may see; absent where the run is about none. */
  readonly repository: string | undefined;
};

/** Shows a run: each rule’s verdict with the values it saw, what was to be changed, and what became of it. */
export function viewRun(run: Run, onlooker: Onlooker): Html {
  const { requests, ms, mode } = run;
  const view = (verdict: Verdict): Html => viewVerdict(verdict, onlooker);
  const asked = run.rules.filter(({ verdict }) => verdict !== 'skipped').map(view);
  // On a forge with many rules most were never asked: they are there, and folded.
  const skipped = run.rules.filter(({ verdict }) => verdict === 'skipped').map(view);
  const planned = run.changes.map((change) => changeRow(change, outcomeOf(run, change), onlooker));
  const refused = run.refused.map(({ change, why }) =>
    changeRow(change, { status: 'refused', words: why }, onlooker),
  );
  const rows = [...planned, ...refused];
  return html`<p>Run <code>${run.id}</code>, ${mode}, ${requests} requests, ${ms} ms</p>
${asked.length > 0 ? asked : html`<p>No rule was asked.</p>`}
${skipped.length > 0 ? html`<details><summary>Rules that were not asked: ${skipped.length}</summary>${skipped}</details>` : undefined}
<h3>Changes</h3>${table(['what', 'why', 'request', 'became'], rows, 'Nothing was to be changed.')}`;
}

const answers = { held: 'yes', not: 'no', error: 'not known', unevaluated: 'not asked' } as const;

function viewVerdict(verdict: Verdict, onlooker: Onlooker): Html {
  const name = verdict.rule.slice(verdict.rule.lastIndexOf('#') + 1);
  const why = wordsOf(verdict);
  const file = onlooker.isOperator
    ? verdict.source
    : verdict.source.slice(verdict.source.lastIndexOf('/') + 1);
  const at = verdict.commit === '' ? '' : ` at ${verdict.commit.slice(0, 10)}`;
  const rows = verdict.findings.map((finding) => [
    answers[finding.result],
    html`<code>${finding.expression}</code>`,
    seenBy(finding, onlooker),
    `${finding.line}:${finding.column}`,
  ]);
  const shown = rows.length > 0 ? table(['answer', 'condition', 'saw', 'place'], rows, '') : undefined;
  const head = html`<strong>${name}</strong> <span class="mark ${verdict.verdict}">${verdict.verdict}</span>
${why === undefined ? undefined : html`<span class="why">${why}</span>`} <code>${file}:${verdict.line}${at}</code>`;
  return shown === undefined
    ? html`<p>${head}</p>`
    : html`<details${verdict.verdict === 'unmatched' ? undefined : openMark}><summary>${head}</summary>${shown}</details>`;
}

const openMark = html` open`;

function seenBy({ values }: Finding, onlooker: Onlooker): Html {
  const lines = Object.entries(values).map(([name, value]) =>
    maySee(name, onlooker)
      ? html`<div><code>${name}</code> = ${typeof value === 'string' ? value : JSON.stringify(value)}</div>`
      : html`<div><code>${name}</code>: not for readers of this repository</div>`,
  );
  return html`${lines}`;
}

const factNames = new Map(facts.map((fact) => [fact.name, fact]));

/**
 * Tells whether a value that a condition saw may be shown: a fact may tell more than the repository, and what it tells
 * rules of the operator is not narrowed to it.
 */
function maySee(name: string, { isOperator, sight }: Onlooker): boolean {
  if (isOperator) return true;
  const fact = factNames.get(/^\w+/.exec(name)?.[0] ?? '');
  if (fact === undefined) return true;
  if (fact.narrow !== undefined || fact.shows === 'beyond') return false;
  return fact.shows === 'repository' || sight === 'administrator';
}

const accessOf = new Map(actions.map((action) => [action.name, action.needs.access]));
const readable: ReadonlySet<string> = new Set(['reader', 'writer']);

/** Tells whether what a change decides may be shown: it lies in the repository, and whoever reads there could read it. */
function mayKnow({ path, action }: RecordedChange, { isOperator, sight, repository }: Onlooker): boolean {
  if (isOperator) return true;
  const isHere =
    repository !== undefined && path.toLowerCase().startsWith(`/repos/${repository}/`.toLowerCase());
  return isHere && (sight === 'administrator' || readable.has(accessOf.get(action) ?? ''));
}

type Became = { readonly status: string; readonly words: string | undefined };

function changeRow(
  change: RecordedChange,
  { status, words }: Became,
  onlooker: Onlooker,
): readonly (Html | string)[] {
  const mark = html`<span class="mark ${status}">${status}</span>`;
  if (!mayKnow(change, onlooker)) return [change.action, 'not for readers of this repository', '', mark];
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

function outcomeOf(run: Run, { id }: RecordedChange): Became {
  const outcome = run.outcomes.find((one) => one.change === id);
  return { status: outcome?.status ?? 'planned', words: outcome?.error };
}
